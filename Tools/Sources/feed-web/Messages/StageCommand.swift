/// What a person behind the scenes asks for: the body of `POST /stage`.
enum StageCommand {
    case hold
    case release(String?)
    case reject(String, reason: String)
    case reword(String, text: String)
    case rejectNext, loseNextAnswer
    case setOnline(Bool, replica: String)
    case crash
    case delay(seconds: Double)
    case advance(seconds: Double)
    case fraction(wait: String, Double)
    case fail(wait: String)
    case boosted(reach: Int)

    init(_ fields: CommandFields) throws(CommandError) {
        switch fields.do {
        case "hold": self = .hold
        case "release": self = .release(fields.id)
        case "reject":
            self = .reject(
                try fields.require(\.id, "id"),
                reason: fields.reason ?? "The server does not accept this.")
        case "reword":
            self = .reword(try fields.require(\.id, "id"), text: try fields.requireText())
        case "rejectNext": self = .rejectNext
        case "loseNextAnswer": self = .loseNextAnswer
        case "offline": self = .setOnline(false, replica: try fields.require(\.replica, "replica"))
        case "online": self = .setOnline(true, replica: try fields.require(\.replica, "replica"))
        case "crash": self = .crash
        case "delay": self = .delay(seconds: try fields.requireSeconds())
        case "advance": self = .advance(seconds: try fields.requireSeconds())
        case "fraction":
            self = .fraction(
                wait: try fields.require(\.wait, "wait"), try fields.require(\.value, "value"))
        case "fail": self = .fail(wait: try fields.require(\.wait, "wait"))
        case "boosted": self = .boosted(reach: try fields.require(\.reach, "reach"))
        default: throw CommandError(status: .malformed, "unknown command \"\(fields.do)\"")
        }
    }
}

extension CommandFields {
    fileprivate func requireSeconds() throws(CommandError) -> Double {
        let seconds = try require(\.seconds, "seconds")
        guard (0...1_000_000).contains(seconds) else {
            throw CommandError(status: .malformed, "\"seconds\" must be from 0 to 1000000")
        }
        return seconds
    }
}
