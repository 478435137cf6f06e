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

    /// The number of frames that were asked for and have begun.
    var begunCount: Int { content.withLock { $0.count - $0.waiting.count } }

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

/// Lets other tasks run until a condition holds, but not forever.
@MainActor func untilSoon(_ condition: () -> Bool) async {
    for _ in 0..<20_000 {
        if condition() { return }
        await Task.yield()
    }
}

/// All values that an observable property has had before its present value, in order.
@MainActor final class PastValues<Value> {
    private(set) var values: [Value] = []
    private let read: @MainActor () -> Value
    private let changed: @MainActor () -> Void

    /// - Parameter changed: called a moment after each change.
    init(
        of read: @escaping @MainActor () -> Value,
        changed: @escaping @MainActor () -> Void = {}
    ) {
        (self.read, self.changed) = (read, changed)
        follow()
    }

    private func follow() {
        withObservationTracking {
            _ = read()
        } onChange: { [weak self] in
            // The observers are called before the change, so the property has the old value.
            MainActor.assumeIsolated { self?.note() }
        }
    }

    private func note() {
        values.append(read())
        follow()
        Task { changed() }
    }
}

/// Counts the notifications for what `read` reads.
@MainActor @Observable final class Notifications {
    private(set) var count = 0
    @ObservationIgnored private let read: @MainActor () -> Void

    init(_ read: @escaping @MainActor () -> Void) {
        self.read = read
        observe()
    }

    /// What is observed keeps the observer. So a strong reference to what it reads is a cycle.
    private func observe() {
        withObservationTracking(read) { [weak self] in
            Task { @MainActor in
                self?.count += 1
                self?.observe()
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

extension Store where P: BoardFold {
    /// Performs a random command that the log may refuse, and returns its name.
    @discardableResult nonisolated(nonsending) func act(
        on keys: [String], _ random: inout SeededGenerator
    ) async throws -> String {
        let last = Int(status.sequence.value)
        let number = IntentNumber(UInt64(Int.random(in: 1...max(1, last), using: &random)))
        let key = keys.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<15, using: &random) {
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
        case 11:
            try await record(.set(key, last), held: true)
            return "draft \(key)"
        case 12:
            _ = try? await release(number)
            return "release \(number)"
        case 13:
            _ = try? await undo(number, force: true)
            return "undo \(number)"
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
