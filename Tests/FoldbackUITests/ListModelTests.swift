import Dispatch
import Foldback
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from the question whether a list can be computed off the main actor, and still never differ
/// from the view beside it.
@MainActor @Suite struct ListModelTests {
    private let frames = Frames()

    @Test func `U24: when a command returns, the list includes it, with its status`()
        async throws
    {
        let model = OptimisticModel(Store.pad(), sources: frames.sources)
        let list = noteList(model)
        #expect(list.isLoading)
        let edits = Edits(of: list)
        let receipt = try await model.perform(.posted("a1"))
        #expect(text(list.snapshot) == ["a: me.1.0=a1 1 pending", "b: "])
        #expect(edits.next().last == "insert me.1.0 at 0.0")
        #expect(!list.isLoading)
        try await model.withdraw(receipt.number)
        #expect(text(list.snapshot) == ["a: ", "b: "])
        #expect(edits.next() == ["delete me.1.0 at 0.0"])
    }

    @Test func `#70: the first list of an empty view is not loading, and differs from none`()
        async throws
    {
        let model = OptimisticModel(Store.pad(), sources: frames.sources)
        let list = ListModel<String, Note>(of: model) { _, _ in }
        #expect(list.isLoading)
        await until { !list.isLoading }
        #expect(list.snapshot == NoteList())
    }

    @Test func `U25: a list that is built again and equal notifies nobody`() async throws {
        let store = Store.pad()
        let model = OptimisticModel(store, sources: frames.sources)
        let list = noteList(model)
        let receipt = try await model.perform(.posted("a1"))
        let edits = Edits(of: list)
        let ofList = Notifications { _ = list.snapshot }
        try await model.perform(.posted("c1"))
        try await model.perform(.removed("none"))
        #expect(ofList.count == 0)
        try await store.acknowledge(receipt.number)
        await until { ofList.count == 1 }
        #expect(edits.next() == ["change me.1.0 at 0.0: status"])
    }

    @Test func `U25: an update that is taken while the next is computed is not shown twice`()
        async throws
    {
        let store = Store.pad()
        let model = OptimisticModel(store, sources: frames.sources)
        let gate = BuildGate()
        let list = ListModel<String, Note>(of: model) { list, pad in
            gate.pass()
            list.section("a")
            list.items(pad.notes(in: "a"))
        }
        await until { !list.isLoading }
        let ofView = Notifications { _ = model.view }
        let shown = PastValues(of: { text(list.snapshot) }) { gate.open() }
        gate.close()
        try await store.record(.posted("a1"))
        while gate.waiting < 1 { await Task.yield() }
        async let other: Receipt = model.perform(.removed("none"))
        // The command waits for the reader, which builds the first list.
        while store.status.sequence < 2 { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        gate.openOnce()
        // The main actor takes the first update only after the second list is begun.
        while gate.waiting < 2 {}
        _ = try await other
        #expect(shown.values == [["a: "]])
        #expect(text(list.snapshot) == ["a: me.1.0=a1 1 pending"])
        #expect(ofView.count == 1)
    }

    @Test func `U28: rows and ghosts are made off the main actor`() async throws {
        let isMain = Mutex<[Bool]>([])
        let model = OptimisticModel(Store.pad(), sources: frames.sources)
        let list = ListModel<String, Note>(of: model) { list, pad in
            isMain.withLock { $0.append(MainQueue.isCurrent) }
            list.section("a")
            list.items(pad.notes(in: "a"))
        } ghost: { _, _ in
            isMain.withLock { $0.append(MainQueue.isCurrent) }
            return nil
        }
        try await model.perform(.posted("a1"), confirmOnly: true)
        #expect(isMain.withLock { $0 }.allSatisfy { !$0 })
        #expect(isMain.withLock { $0.count } >= 2)
        #expect(list.snapshot.rowCount == 0)
    }

    @Test func `U19: a repeated id is a failure, and the last list stays until it can be built`()
        async throws
    {
        let model = OptimisticModel(Store.pad(), sources: frames.sources)
        let list = ListModel<String, Note>(of: model) { list, pad in
            list.section("a")
            list.items(pad.notes.values.sorted().map { Note(id: $0) })
        }
        try await model.perform(.posted("x"))
        let receipt = try await model.perform(.posted("x"))
        guard case .invalid(.duplicateItem)? = list.failure else {
            Issue.record("failure: \(list.failure as Any)")
            return
        }
        #expect(list.failure?.localizedDescription.contains("in the list twice") == true)
        #expect(text(list.snapshot) == ["a: x="])
        try await model.withdraw(receipt.number)
        #expect(list.failure == nil)
        #expect(text(list.snapshot) == ["a: x="])
    }

    @Test func `a list is built again when the app asks for it`() async throws {
        let model = OptimisticModel(Store.pad(), sources: frames.sources)
        let isLoading = Mutex(true)
        let list = ListModel<String, Note>(of: model) { list, pad in
            list.section("a")
            list.items(pad.notes(in: "a"))
            if isLoading.withLock(\.self) { list.placeholders(count: 2) }
        }
        try await model.perform(.posted("a1"))
        #expect(list.snapshot.isBusy)
        let edits = Edits(of: list)
        isLoading.withLock { $0 = false }
        await list.rebuild()
        #expect(text(list.snapshot) == ["a: me.1.0=a1 1 pending"])
        #expect(edits.next() == ["delete a end 0 at 0.1", "delete a end 1 at 0.2"])
    }

    @Test func `an observer hears of each list once, after the model and before the cues`()
        async throws
    {
        let store = Store.pad()
        let model = OptimisticModel(store, sources: frames.sources)
        let list = noteList(model)
        var told: [String] = []
        // Before the list changes, the model is at the next revision already.
        let past = PastValues(of: { "\(model.revision): \(text(list.snapshot))" })
        let follower = ListFollower(list) { told.append($0 ?? text(list.snapshot).description) }
        let receipt = try await model.perform(.posted("a1"))
        try await store.reject(receipt.number, message: "no")
        var cues = model.cues.makeAsyncIterator()
        _ = await cues.next()
        follower.catchUp()
        #expect(
            past.values == [
                "0: []", "1: []", #"1: ["a: me.1.0=a1 1 pending", "b: "]"#,
                #"2: ["a: me.1.0=a1 1 pending", "b: "]"#,
            ])
        #expect(
            told == [
                #"["a: me.1.0=a1 1 pending", "b: "]"#, #"["a: !me.1.0=a1 1 rejected", "b: "]"#,
            ])
        #expect(follower.snapshot == list.snapshot)
    }

    @Test func `U29: a list is released with its model, and a list of a closed store is built`()
        async throws
    {
        weak var freed: ListModel<String, Note>?
        let store = Store.pad()
        let model = OptimisticModel(store, sources: frames.sources)
        do {
            let list = noteList(model)
            try await model.perform(.posted("a1"))
            freed = list
        }
        #expect(freed == nil)
        await store.close()
        await until { model.condition == .closed }
        let late = noteList(model)
        await until { !late.isLoading }
        #expect(text(late.snapshot) == ["a: me.1.0=a1 1 pending", "b: "])
    }
}

/// A place where builders of lists wait.
private final class BuildGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let content = Mutex((isClosed: false, waiting: 0))

    /// How many builders have arrived since the gate was closed.
    var waiting: Int { content.withLock { $0.waiting } }

    func close() { content.withLock { $0 = (true, 0) } }

    func pass() {
        let waits = content.withLock { content in
            if content.isClosed { content.waiting += 1 }
            return content.isClosed
        }
        if waits { semaphore.wait() }
    }

    /// Lets one builder through.
    func openOnce() { semaphore.signal() }

    func open() {
        let wasClosed = content.withLock { content in
            defer { content.isClosed = false }
            return content.isClosed
        }
        if wasClosed { semaphore.signal() }
    }
}
