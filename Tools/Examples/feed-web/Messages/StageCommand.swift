/// What a person asks of the stage: the body of `POST /stage`.
enum StageCommand {
    case hold
    case release(String?)
    case reject(String, reason: String)
    case reword(String, text: String)
    case rejectNext(Bool), loseNextAnswer(Bool)
    case conflict(replica: String)
    case setOnline(Bool, replica: String)
    case crash, startAgain
    case delay(seconds: Double)
    case advance(seconds: Double)
    case fraction(Held, Double)
    case fail(Held)
    case boosted(reach: Int)

    /// A held request, by its id or by the wait that it has.
    enum Held { case id(String), wait(String) }

    init(_ fields: CommandFields) throws(RefusedCommand) {
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
        case "loseNextAnswer": self = .loseNextAnswer(fields.on ?? true)
        case "conflict": self = .conflict(replica: try fields.require(\.replica, "replica"))
        case "offline": self = .setOnline(false, replica: try fields.require(\.replica, "replica"))
        case "online": self = .setOnline(true, replica: try fields.require(\.replica, "replica"))
        case "crash": self = .crash
        case "startAgain": self = .startAgain
        case "delay": self = .delay(seconds: try fields.requireSeconds())
        case "advance": self = .advance(seconds: try fields.requireSeconds())
        case "fraction":
            self = .fraction(try fields.requireHeld(), try fields.require(\.value, "value"))
        case "fail": self = .fail(try fields.requireHeld())
        case "boosted": self = .boosted(reach: try fields.requireReach())
        default: throw RefusedCommand(status: .malformed, "unknown command \"\(fields.do)\"")
        }
    }
}

extension CommandFields {
    fileprivate func requireHeld() throws(RefusedCommand) -> StageCommand.Held {
        if let id { return .id(id) }
        return .wait(try require(\.wait, "wait"))
    }

    fileprivate func requireReach() throws(RefusedCommand) -> Int {
        let reach = try require(\.reach, "reach")
        guard (0...1_000_000).contains(reach) else {
            throw RefusedCommand(status: .malformed, "\"reach\" must be from 0 to 1000000")
        }
        return reach
    }

    fileprivate func requireSeconds() throws(RefusedCommand) -> Double {
        let seconds = try require(\.seconds, "seconds")
        guard (0...1_000_000).contains(seconds) else {
            throw RefusedCommand(status: .malformed, "\"seconds\" must be from 0 to 1000000")
        }
        return seconds
    }
}
