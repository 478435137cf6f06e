import Foldback
import Synchronization

/// The time of the last answer from an authority.
final class Contact: Sendable {
    private let time = Mutex<Timestamp?>(nil)
    private let now: @Sendable () -> Timestamp
    private let changes: Signal

    /// - Parameter changes: rings after each answer.
    init(_ changes: Signal, now: @escaping @Sendable () -> Timestamp) {
        self.changes = changes
        self.now = now
    }

    /// Nil if there was no answer yet.
    var last: Timestamp? { time.withLock { $0 } }

    func note() {
        time.withLock { $0 = now() }
        changes.ring()
    }
}

/// An authority whose answers are noted.
struct AnsweringAuthority<Event: Sendable>: Authority {
    private let authority: any Authority<Event>
    let contact: Contact

    init(_ authority: any Authority<Event>, contact: Contact) {
        self.authority = authority
        self.contact = contact
    }

    func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        let verdicts = try await authority.submit(intents, from: device)
        contact.note()
        return verdicts
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Event> {
        let changes = try await authority.changes(after: device)
        contact.note()
        return changes
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        let changes = try await authority.changes(after: device, waiting: waiting)
        contact.note()
        return changes
    }
}
