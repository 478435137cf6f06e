/// A request that cannot be carried out, with the reason in words.
struct RefusedCommand: Error {
    enum Status {
        case malformed, unknown
        /// The command is understood, and the present state does not allow it. This is an answer, not
        /// an error of the page.
        case conflict
    }

    let status: Status
    let reason: String

    init(status: Status, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}
