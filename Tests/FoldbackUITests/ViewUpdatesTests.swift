import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a view that is not on the main actor sees every change.
@Suite struct ViewUpdatesTests {
    private actor Terminal {
        private(set) var lines: [String] = []

        func show(_ store: Store<Board>) async {
            for await update in ViewUpdates(of: store) {
                lines.append(ViewUpdatesTests.line(update))
            }
        }
    }

    @MainActor private final class Panel {
        private(set) var lines: [String] = []

        func show(_ store: Store<Board>) async {
            for await update in ViewUpdates(of: store) {
                MainActor.assertIsolated()
                lines.append(ViewUpdatesTests.line(update))
            }
        }
    }

    private static func line(_ update: ViewUpdate<Board>) -> String {
        let marks = update.statuses.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.worst.map { "\($0)" } ?? "settled")" }
        return "\(update.snapshot.sequence): \(marks)"
    }

    @Test func `#13: updates arrive on an actor of the app, and end with the store`() async throws {
        let store = Store.board()
        try await store.record(.set("a", 1))
        let terminal = Terminal()
        async let shown: Void = terminal.show(store)
        while await terminal.lines.count < 1 { await Task.yield() }
        try await store.acknowledge(1)
        while await terminal.lines.count < 2 { await Task.yield() }
        await store.close()
        await shown
        #expect(await terminal.lines == [#"1: ["a pending"]"#, #"2: ["a settled"]"#])
    }

    @MainActor @Test func `#13: updates arrive on the main actor, and end with the store`()
        async throws
    {
        let store = Store.board()
        try await store.record(.set("a", 1))
        let panel = Panel()
        async let shown: Void = panel.show(store)
        while panel.lines.count < 1 { await Task.yield() }
        try await store.acknowledge(1)
        while panel.lines.count < 2 { await Task.yield() }
        await store.close()
        await shown
        #expect(panel.lines == [#"1: ["a pending"]"#, #"2: ["a settled"]"#])
    }

    @Test func `updates can show another projection of the store`() async throws {
        let store = Store.inMemory(
            Channels.self, also: [.init(Messages.self)], confirmedBy: .acknowledgement)
        try await store.record(.created(channel: 1))
        try await store.record(.posted(channel: 1, message: 7))
        for await update in ViewUpdates(of: store, showing: Messages.self) {
            #expect(update.snapshot.view.keys == [7])
            break
        }
    }

    @Test func `U29: updates do not keep a store`() async throws {
        weak var freed: Store<Board>?
        let updates: ViewUpdates<Board>
        do {
            let store = Store.board()
            freed = store
            updates = ViewUpdates(of: store)
        }
        #expect(freed == nil)
        for await _ in updates { Issue.record("a released store has no updates") }
    }
}
