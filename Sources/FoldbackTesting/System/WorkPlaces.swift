import Foundation
import Synchronization

/// Places for work that keeps a core busy. Runs of laws wait here for each other, so that parallel
/// tests do not use up each other's time.
///
/// A run holds one place. While nobody waits, it may borrow the others for a short time.
final class WorkPlaces: Sendable {
    /// As many places as the machine has cores.
    static let ofThisProgram = WorkPlaces(max(1, ProcessInfo.processInfo.activeProcessorCount))

    private struct State {
        var free: Int
        /// In the order of arrival.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    let count: Int

    init(_ count: Int) {
        self.count = count
        state = Mutex(State(free: count))
    }

    /// Calls a function that holds a place meanwhile; waits for the place.
    nonisolated(nonsending) func holding<R>(
        _ body: nonisolated(nonsending) () async -> R
    ) async -> R {
        await take()
        let result = await body()
        giveBack()
        return result
    }

    private nonisolated(nonsending) func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// How many wait for a place.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Borrows a place if one is free. Call ``giveBack()`` soon.
    func borrow() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    /// Frees a place, for the first that waits.
    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
