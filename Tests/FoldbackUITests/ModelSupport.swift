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

    /// Whether somebody waits for the next frame.
    var isWaiting: Bool { content.withLock { !$0.waiting.isEmpty } }

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

/// Records each value that a view could have drawn: before each change of what `read` reads, and
/// now. Equal neighbors count once.
@MainActor final class ShownValues<Value: Equatable> {
    private let read: @MainActor () -> Value
    private var recorded: [Value] = []

    init(_ read: @escaping @MainActor () -> Value) {
        self.read = read
        record()
    }

    /// All values so far.
    var values: [Value] {
        let value = read()
        return recorded.last == value ? recorded : recorded + [value]
    }

    private func record() {
        let value = withObservationTracking(read) { [weak self] in
            // The observers are called before the change, on the actor of the model.
            MainActor.assumeIsolated { self?.record() }
        }
        if recorded.last != value { recorded.append(value) }
    }
}

extension Store where P == Board {
    /// A store in memory, on an empty log of replica "me".
    static func board(_ kind: LogKind = .acknowledgement) -> Store<Board> {
        .inMemory(
            Board.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }
}

/// An intent with a mark, computed from the log alone.
struct NaiveIntent<Event: Sendable> {
    let event: Event
    let context: EventContext
    let mark: IntentMark
    let isConfirmOnly: Bool
}

extension Store where P: Projection & Itemized {
    /// The intents with marks, ascending, computed from the log alone.
    func naiveIntents() throws -> [NaiveIntent<P.Event>] {
        let snapshot = snapshot
        return try naiveIntents { snapshot.conflict(of: $0) }
    }

    /// The statuses of all items, computed from the log alone.
    func naiveStatuses() throws -> [P.ItemID: ItemStatus] {
        let snapshot = snapshot
        return try naiveStatuses { snapshot.conflict(of: $0) }
    }
}

extension Store where P: Itemized {
    /// The intents with marks, ascending, computed from the log and the reasons of conflicts.
    fileprivate func naiveIntents(
        conflict: (IntentNumber) -> String?
    ) throws -> [NaiveIntent<P.Event>] {
        var intents: [NaiveIntent<P.Event>] = []
        for intent in overlay {
            let attempt = attempt(of: intent.number)
            let state: MarkState =
                if let reason = conflict(intent.number) {
                    .conflicted(reason: reason)
                } else if intent.state == .accepted {
                    .accepted
                } else {
                    .pending
                }
            guard let event = intent.event else { continue }
            let mark = IntentMark(
                number: intent.number, state: state, retries: intent.retries, attempt: attempt,
                actions: intent.state == .pending && attempt == nil ? [.withdraw] : [])
            intents.append(
                NaiveIntent(
                    event: event, context: EventContext(.intent(intent.id)), mark: mark,
                    isConfirmOnly: intent.isConfirmOnly))
        }
        for number in rejections {
            let status = try intent(number)
            guard let event = status.event, let rejection = status.rejection else { continue }
            let mark = IntentMark(
                number: number, state: .rejected(rejection), retries: status.retries,
                actions: [.retry, .dismiss])
            intents.append(
                NaiveIntent(
                    event: event, context: EventContext(.intent(status.id)), mark: mark,
                    isConfirmOnly: status.isConfirmOnly))
        }
        return intents.sorted { $0.mark.number < $1.mark.number }
    }

    /// The statuses of all items, computed from the log and the reasons of conflicts.
    func naiveStatuses(
        conflict: (IntentNumber) -> String?
    ) throws -> [P.ItemID: ItemStatus] {
        var marks: [P.ItemID: [IntentMark]] = [:]
        for intent in try naiveIntents(conflict: conflict) {
            for item in P.items(of: intent.event, intent.context) {
                let mark = intent.mark
                marks[item.id, default: []].append(
                    IntentMark(
                        number: mark.number, facet: item.facet, state: mark.state,
                        retries: mark.retries, attempt: mark.attempt, actions: mark.actions))
            }
        }
        return marks.mapValues { ItemStatus(marks: $0) }
    }
}

extension Store where P: BoardFold {
    /// Performs a random command that the log may refuse, and returns its name.
    @discardableResult nonisolated(nonsending) func act(
        on keys: [String], _ random: inout SeededGenerator
    ) async throws -> String {
        let last = Int(status.sequence.value)
        let number = IntentNumber(UInt64(Int.random(in: 1...max(1, last), using: &random)))
        let key = keys.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3:
            try await record(.set(key, last))
            return "set \(key)"
        case 3..<5:
            _ = try await record(.add(key, 1), force: true)
            return "add \(key)"
        case 5:
            _ = try await record(.claim(key), force: true, confirmOnly: random.oneIn(2))
            return "claim \(key)"
        case 6:
            _ = try? await acknowledge(number)
            return "acknowledge \(number)"
        case 7:
            _ = try? await reject(number, message: "no \(number)")
            return "reject \(number)"
        case 8:
            _ = try? await withdraw(number)
            return "withdraw \(number)"
        case 9:
            let isRetry = random.oneIn(2)
            if isRetry {
                _ = try? await retry(number, force: true)
            } else {
                _ = try? await dismiss(number)
            }
            return "\(isRetry ? "retry" : "dismiss") \(number)"
        case 10:
            let attempt = Attempt(
                count: last + 1, startedAt: Timestamp(millisecondsSince1970: Int64(last)))
            _ = try await recordAttempts([number: attempt], flushes: false)
            return "attempt \(number)"
        default:
            let origin =
                random.oneIn(2) ? IntentID(replica: status.replica, number: number) : nil
            _ = try? await confirm([
                ConfirmedEvent(
                    position: Position(status.through.value + 1), event: .remove(key),
                    origin: origin)
            ])
            return "confirm remove \(key)"
        }
    }
}
