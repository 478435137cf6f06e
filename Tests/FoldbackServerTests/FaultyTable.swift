import Foldback
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import Synchronization
import TestSupport

/// A table whose database fails as PostgreSQL with a standby does.
///
/// A row that the primary shows may be on no standby yet. It is lost if the standby takes over, unless a later
/// commit or a barrier has succeeded. An append that fails may be there, or not, or come later.
final class FaultyTable: DecisionTable {
    private struct State {
        var groups: [TableGroup] = []
        /// The groups that a standby has.
        var safeCount = 0
        var timeline: UInt32 = 1
        var random: SeededGenerator
        var isFaulty = true
        var isStandbyAway = false
        var listeners: [AsyncStream<SpaceName?>.Continuation] = []
        var faults: [String: Int] = [:]

        mutating func fails(_ fault: String, oneIn count: Int) -> Bool {
            guard isFaulty, random.oneIn(count) else { return false }
            faults[fault, default: 0] += 1
            return true
        }

        mutating func insert(_ group: TableGroup, after head: TableGroup?) -> Bool {
            guard groups.last == head else { return false }
            groups.append(group)
            return true
        }
    }

    private let state: Mutex<State>
    private let time: VirtualTime
    private var sources: SyncSources { time.sources }
    private let calls = Mutex(0)

    init(seed: UInt64, _ time: VirtualTime) {
        state = Mutex(State(random: SeededGenerator(seed: seed)))
        self.time = time
    }

    var groups: [TableGroup] { state.withLock { $0.groups } }
    var callCount: Int { calls.withLock { $0 } }
    var faults: [String: Int] { state.withLock { $0.faults } }

    private func pause() async {
        calls.withLock { $0 += 1 }
        await sources.sleep(.milliseconds(Int64(sources.jitter() * 5)))
    }

    func append(
        _ group: TableGroup, after head: TableGroup?, in space: SpaceName
    ) async throws(TableFailure) -> TableGroup? {
        await pause()
        enum End { case done(Bool), failed, late }
        let end: End = state.withLock { state in
            if state.fails("lost before its commit", oneIn: 12) { return .failed }
            if state.fails("committed later", oneIn: 20) { return .late }
            guard state.insert(group, after: head) else { return .done(false) }
            // A canceled commit is a success with a warning.
            if state.isStandbyAway || state.fails("canceled commit", oneIn: 12) { return .failed }
            state.safeCount = state.groups.count
            return state.fails("lost after its commit", oneIn: 12) ? .failed : .done(true)
        }
        switch end {
        case .failed: throw TableFailure("connection lost")
        case .late:
            Task(executorPreference: time) { [self] in
                await pause()
                state.withLock { _ = $0.insert(group, after: head) }
            }
            throw TableFailure("connection lost")
        case .done(let isThere):
            await pause()
            if isThere { hint(space) }
            return isThere ? group : nil
        }
    }

    func groups(
        from position: Position, in space: SpaceName
    ) async throws(TableFailure) -> TablePage {
        await pause()
        let page: TablePage? = state.withLock { state in
            if state.fails("read", oneIn: 30) { return nil }
            let rest = state.groups.dropFirst(Int(position.value) - 1)
            let founding = state.groups.reversed().lazy.compactMap(\.founding).first
            return TablePage(
                groups: Array(rest.prefix(3)), head: state.groups.last?.position ?? 0,
                founding: founding,
                timeline: state.timeline)
        }
        await pause()
        guard let page else { throw TableFailure("connection lost") }
        return page
    }

    func barrier() async throws(TableFailure) -> UInt32 {
        await pause()
        let timeline: UInt32? = state.withLock { state in
            if state.isStandbyAway || state.fails("barrier", oneIn: 20) { return nil }
            state.safeCount = state.groups.count
            return state.timeline
        }
        await pause()
        guard let timeline else { throw TableFailure("canceled") }
        return timeline
    }

    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?> {
        AsyncStream { listener in state.withLock { $0.listeners.append(listener) } }
    }

    private func hint(_ space: SpaceName?) {
        state.withLock { state in
            if space != nil, state.fails("hint", oneIn: 3) { return }
            for listener in state.listeners { listener.yield(space) }
        }
    }

    // MARK: What happens to the database

    /// The standby takes over: what it does not have is lost.
    func promote() {
        state.withLock { state in
            if state.groups.count > state.safeCount { state.faults["rows lost", default: 0] += 1 }
            state.groups.removeLast(state.groups.count - state.safeCount)
            state.timeline += 1
        }
    }

    func setStandby(away isAway: Bool) { state.withLock { $0.isStandbyAway = isAway } }

    func heal() {
        state.withLock { ($0.isFaulty, $0.isStandbyAway) = (false, false) }
        hint(nil)
    }
}

extension TableGroup {
    var founding: Founding? {
        for case .founded(let founding) in rows { return founding }
        return nil
    }
}
