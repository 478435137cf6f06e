/// A request that cannot be carried out, with the reason in words.
struct CommandError: Error {
    enum Status: Int { case malformed = 400, unknown = 404, conflict = 409 }

    let status: Status
    let reason: String

    init(status: Status, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}
