/// What a person asks of the stage: the body of `POST /stage`.
enum StageCommand {
    case hold
    case release(String?)
    case reject(String, reason: String)
    case reword(String, text: String)
    case rejectNext(Bool)
    case conflict(replica: String)
    case setOnline(Bool, replica: String)
    case crash, startAgain
    case delay(seconds: Double)
    case advance(seconds: Double)
    case fraction(wait: String, Double)

    init(_ fields: CommandFields) throws(Refusal) {
        switch fields.do {
        case "hold": self = .hold
        case "release": self = .release(fields.id)
        case "reject":
            self = .reject(
                try fields.require(\.id, "id"),
                reason: fields.reason ?? Stage.refusal)
        case "reword":
            self = .reword(try fields.require(\.id, "id"), text: try fields.requireText())
        case "rejectNext": self = .rejectNext(fields.on ?? true)
        case "conflict": self = .conflict(replica: try fields.require(\.replica, "replica"))
        case "offline": self = .setOnline(false, replica: try fields.require(\.replica, "replica"))
        case "online": self = .setOnline(true, replica: try fields.require(\.replica, "replica"))
        case "crash": self = .crash
        case "startAgain": self = .startAgain
        case "delay": self = .delay(seconds: try fields.requireSeconds())
        case "advance": self = .advance(seconds: try fields.requireSeconds())
        case "fraction":
            self = .fraction(
                wait: try fields.require(\.wait, "wait"), try fields.require(\.value, "value"))
        default: throw Refusal(.badRequest, "unknown command \"\(fields.do)\"")
        }
    }
}

extension CommandFields {
    fileprivate func requireSeconds() throws(Refusal) -> Double {
        let seconds = try require(\.seconds, "seconds")
        guard (0...1_000_000).contains(seconds) else {
            throw Refusal(.badRequest, "\"seconds\" must be from 0 to 1000000")
        }
        return seconds
    }
}
