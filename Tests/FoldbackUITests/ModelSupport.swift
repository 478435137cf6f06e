import Foldback
import FoldbackTesting
import FoldbackUI
import Observation
import Synchronization
import TestSupport

extension Board: Itemized {
    public typealias ItemID = String
}

/// Frames that begin at once, or when the test says so.
final class Frames: Sendable {
    private struct Content {
        var count = 0
        var isHeld = false
        var waiting: [UnsafeContinuation<Void, Never>] = []
    }

    private let content = Mutex(Content())

    init(held: Bool = false) { content.withLock { $0.isHeld = held } }

    /// The number of frames that were asked for.
    var count: Int { content.withLock { $0.count } }

    var sources: UISources {
        UISources(now: { .zero }, sleep: { _ in }, frame: { await self.frame() })
    }

    private func frame() async {
        await withUnsafeContinuation { continuation in
            let isHeld = content.withLock { content in
                content.count += 1
                if content.isHeld { content.waiting.append(continuation) }
                return content.isHeld
            }
            if !isHeld { continuation.resume() }
        }
    }

    /// Begins the next frame.
    func begin() {
        let waiting = content.withLock { content in
            defer { content.waiting = [] }
            return content.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Waits until a condition over observable properties holds.
@MainActor func until(_ condition: @escaping @MainActor () -> Bool) async {
    while true {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        let isMet = withObservationTracking(condition) { continuation.yield() }
        if isMet { return }
        for await _ in changes { break }
        // The observers are called before the change.
        await Task.yield()
    }
}

/// Counts the notifications for what `read` reads.
@MainActor @Observable final class Notifications {
    private(set) var count = 0

    init(_ read: @escaping @MainActor () -> Void) { observe(read) }

    private func observe(_ read: @escaping @MainActor () -> Void) {
        withObservationTracking(read) {
            Task { @MainActor in
                self.count += 1
                self.observe(read)
            }
        }
    }
}

extension Store where P == Board {
    /// A store in memory, on an empty log of replica "me".
    static func board(_ kind: LogKind = .acknowledgement) -> Store<Board> {
        .inMemory(
            Board.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }

    /// The statuses of all items, computed from the log alone.
    func naiveStatuses() throws -> [String: ItemStatus] {
        var marks: [String: [IntentMark]] = [:]
        let snapshot = snapshot
        for intent in snapshot.overlay {
            let attempt = attempt(of: intent.number)
            let state: MarkState =
                if let reason = snapshot.conflict(of: intent.number) {
                    .conflicted(reason: reason)
                } else if intent.state == .accepted {
                    .accepted
                } else {
                    .pending
                }
            guard let event = intent.event else { continue }
            for key in Board.keys(touchedBy: event, EventContext(.intent(intent.id))) {
                marks[key, default: []].append(
                    IntentMark(
                        number: intent.number, state: state, retries: intent.retries,
                        attempt: attempt,
                        actions: intent.state == .pending && attempt == nil ? [.withdraw] : []))
            }
        }
        for number in snapshot.rejections {
            let status = try intent(number)
            guard let event = status.event, let rejection = status.rejection else { continue }
            for key in Board.keys(touchedBy: event, EventContext(.intent(status.id))) {
                marks[key, default: []].append(
                    IntentMark(
                        number: number, state: .rejected(rejection), retries: status.retries,
                        actions: [.retry, .dismiss]))
            }
        }
        return marks.mapValues { ItemStatus(marks: $0) }
    }
}
