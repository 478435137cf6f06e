import Foldback
import FoldbackServer
import Synchronization

/// A table without a database, for tests and simulations. It ends with the process.
final class TableInMemory: DecisionTable {
    private struct State {
        var spaces: [SpaceName: [TableGroup]] = [:]
        var timeline: UInt32 = 1
        var listeners: [AsyncStream<SpaceName?>.Continuation] = []
    }

    private let state = Mutex(State())
    private let pageMax: Int

    /// - Parameter pageMax: the most groups of a page.
    init(pageMax: Int = 64) { self.pageMax = pageMax }

    func append(
        _ group: TableGroup, after head: TableGroup?, in space: SpaceName
    ) -> TableGroup? {
        let isThere = state.withLock { state in
            guard state.spaces[space]?.last == head else { return false }
            precondition(group.position.value == (head?.position.value ?? 0) + 1)
            state.spaces[space, default: []].append(group)
            return true
        }
        if isThere { hint(space) }
        return isThere ? group : nil
    }

    func groups(from position: Position, in space: SpaceName) -> TablePage {
        state.withLock { state in
            let all = state.spaces[space] ?? []
            let rest = all.drop { $0.position < position }
            return TablePage(
                groups: Array(rest.prefix(pageMax)), head: all.last?.position ?? 0,
                founding: all.founding, timeline: state.timeline)
        }
    }

    func barrier() -> UInt32 { state.withLock { $0.timeline } }

    /// All groups of a space.
    func all(of space: SpaceName) -> [TableGroup] { state.withLock { $0.spaces[space] ?? [] } }

    func hint(_ space: SpaceName?) {
        for listener in state.withLock({ $0.listeners }) { listener.yield(space) }
    }

    /// Removes a group, as somebody who deletes rows does.
    func remove(_ position: Position, of space: SpaceName) {
        state.withLock { $0.spaces[space]?.removeAll { $0.position == position } }
    }

    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?> {
        AsyncStream { listener in state.withLock { $0.listeners.append(listener) } }
    }

    /// Puts an earlier state back: the first groups of these spaces, on another timeline.
    func restore(_ heads: [SpaceName: Position], timeline: UInt32) {
        state.withLock { state in
            for (space, head) in heads {
                state.spaces[space] = Array((state.spaces[space] ?? []).prefix(Int(head.value)))
            }
            state.timeline = timeline
        }
    }
}

extension [TableGroup] {
    fileprivate var founding: Founding? {
        for group in reversed() {
            for case .founded(let founding) in group.rows { return founding }
        }
        return nil
    }
}
