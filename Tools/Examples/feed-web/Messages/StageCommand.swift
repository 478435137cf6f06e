/// What a person asks of the stage: the body of `POST /stage`.
enum StageCommand: Decodable {
    case hold
    /// Without an id, all requests are released, and no more are held.
    case release(id: String?)
    case reject(id: String, reason: String = Stage.refusal)
    case reword(id: String, text: String)
    case rejectNext(on: Bool)
    case conflict(replica: String)
    case offline(replica: String), online(replica: String)
    case crash, startAgain
    case delay(seconds: Double)
    case advance(seconds: Double)
    case fraction(wait: String, value: Double)
}
