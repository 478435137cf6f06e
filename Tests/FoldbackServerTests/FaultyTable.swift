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
        /// The groups that a standby has.
        var safeCount: UInt64 = 0
        var timeline: UInt32 = 1
        var random: SeededGenerator
        var isFaulty = true
        var isStandbyAway = false
        var faults: [String: Int] = [:]

        mutating func fails(_ fault: String, oneIn count: Int) -> Bool {
            guard isFaulty, random.oneIn(count) else { return false }
            faults[fault, default: 0] += 1
            return true
        }
    }

    private let table = TableInMemory(pageMax: 3)
    private let space: SpaceName
    private let state: Mutex<State>
    private let time: VirtualTime
    private var sources: SyncSources { time.sources }
    private let calls = Mutex(0)

    init(of space: SpaceName, seed: UInt64, _ time: VirtualTime) {
        self.space = space
        state = Mutex(State(random: SeededGenerator(seed: seed)))
        self.time = time
    }

    var groups: [TableGroup] { table.all(of: space) }
    private var count: UInt64 { UInt64(groups.count) }
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
            guard table.append(group, after: head, in: space) != nil else { return .done(false) }
            // A canceled commit is a success with a warning.
            if state.isStandbyAway || state.fails("canceled commit", oneIn: 12) { return .failed }
            state.safeCount = count
            return state.fails("lost after its commit", oneIn: 12) ? .failed : .done(true)
        }
        switch end {
        case .failed: throw TableFailure("connection lost")
        case .late:
            Task(executorPreference: time) { [self] in
                await pause()
                _ = table.append(group, after: head, in: space)
            }
            throw TableFailure("connection lost")
        case .done(let isThere):
            await pause()
            return isThere ? group : nil
        }
    }

    func groups(
        from position: Position, in space: SpaceName
    ) async throws(TableFailure) -> TablePage {
        await pause()
        let isRead = !state.withLock { $0.fails("read", oneIn: 30) }
        let page = table.groups(from: position, in: space)
        await pause()
        guard isRead else { throw TableFailure("connection lost") }
        return page
    }

    func barrier() async throws(TableFailure) -> UInt32 {
        await pause()
        let timeline: UInt32? = state.withLock { state in
            if state.isStandbyAway || state.fails("barrier", oneIn: 20) { return nil }
            state.safeCount = count
            return state.timeline
        }
        await pause()
        guard let timeline else { throw TableFailure("canceled") }
        return timeline
    }

    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?> {
        AsyncStream { hints in
            Task(executorPreference: time) { [self] in
                for await hint in table.hints(past: heads) {
                    let isLost = hint != nil && state.withLock { $0.fails("hint", oneIn: 3) }
                    if !isLost { hints.yield(hint) }
                }
            }
        }
    }

    // MARK: What happens to the database

    /// The standby takes over: what it does not have is lost.
    func promote() {
        state.withLock { state in
            if count > state.safeCount { state.faults["rows lost", default: 0] += 1 }
            state.timeline += 1
            table.restore([space: Position(state.safeCount)], timeline: state.timeline)
        }
    }

    func setStandby(away isAway: Bool) { state.withLock { $0.isStandbyAway = isAway } }

    func heal() {
        state.withLock { ($0.isFaulty, $0.isStandbyAway) = (false, false) }
        table.hint(nil)
    }
}

extension TableGroup {
    var founding: Founding? {
        for case .founded(let founding) in rows { return founding }
        return nil
    }
}
