import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a list from which a refused comment vanished, together with its text.
@MainActor @Suite struct GhostTests {
    private let store = Store.pad()
    private let model: OptimisticModel<Pad>
    private let list: ListModel<String, Note>

    init() {
        model = OptimisticModel(store, sources: Frames().sources)
        list = noteList(model)
    }

    @Test func `U32: a rejected note stays as a ghost under its id, until it is dismissed`()
        async throws
    {
        let receipt = try await model.perform(.posted("a1"))
        let edits = Edits(of: list)
        try await store.reject(receipt.number, message: "no")
        await until { model.revision == 2 }
        #expect(model.view.notes == [:])
        #expect(text(list.snapshot) == ["a: !me.1.0=a1 1 rejected", "b: "])
        #expect(edits.next() == ["change me.1.0 at 0.0: status"])
        let marks = list.snapshot.sections[0].rows[0].status.marks
        #expect(marks.map(\.actions) == [[.retry, .dismiss]])
        try await model.dismiss(receipt.number)
        #expect(text(list.snapshot) == ["a: ", "b: "])
    }

    @Test func `U32: a retry's row is paired with the ghost that it replaces`() async throws {
        let receipt = try await model.perform(.posted("a1"))
        try await store.reject(receipt.number, message: "no")
        await until { model.revision == 2 }
        let edits = Edits(of: list)
        try await model.retry(receipt.number, with: .posted("a2"))
        #expect(text(list.snapshot) == ["a: me.2.0=a2 2 pending", "b: "])
        #expect(
            edits.next() == [
                "delete me.1.0 at 0.0", "insert me.2.0 at 0.0", "replace 0.0 by 0.0",
            ])
    }

    @Test func `U32: a confirm-only note is a ghost until it is confirmed`() async throws {
        let receipt = try await model.perform(.posted("b1"), confirmOnly: true)
        #expect(text(list.snapshot) == ["a: ", "b: !me.1.0=b1 1 pending"])
        try await store.acknowledge(receipt.number)
        await until { model.revision == 2 }
        #expect(text(list.snapshot) == ["a: ", "b: me.1.0=b1"])
    }

    @Test func `U32: a conflicted edit of a removed note is a ghost, and of a note only a mark`()
        async throws
    {
        let note = try await model.perform(.posted("a1"))
        let edit = try await model.perform(.edited("me.1.0", "a2"))
        try await store.reject(edit.number, message: "no")
        await until { model.revision == 3 }
        #expect(text(list.snapshot) == ["a: me.1.0=a1 1 pending 2 rejected", "b: "])
        let again = try await model.retry(edit.number)
        try await store.reject(note.number, message: "no")
        await until { model.rejections.count == 1 }
        #expect(
            text(list.snapshot) == ["a: !me.1.0=a2 1 rejected 3 conflicted", "b: "])
        try await model.withdraw(again.number)
        #expect(text(list.snapshot) == ["a: !me.1.0=a1 1 rejected", "b: "])
    }

    @Test func `U32: a ghost that the rows function does not place is at the end`() async throws {
        let list = ListModel<String, Note>(of: model) { list, pad in
            list.section("a")
            list.items(pad.notes(in: "a"))
        } ghost: { intent, _ in
            Pad.ghost(intent.event, intent.context)
        }
        try await model.perform(.posted("a1"), confirmOnly: true)
        try await model.perform(.posted("a2"))
        #expect(text(list.snapshot) == ["a: me.2.0=a2 2 pending, !me.1.0=a1 1 pending"])
    }

    @Test func `U32: a ghost has the mark of its intent, also if no event names its item`()
        async throws
    {
        let list = ListModel<String, Note>(of: model, itemID: { _ in nil }) { list, _ in
            list.section("a")
        } ghost: { intent, _ in
            Pad.ghost(intent.event, intent.context)
        }
        try await model.perform(.posted("a1"), confirmOnly: true)
        #expect(text(list.snapshot) == ["a: !me.1.0=a1 1 pending"])
    }

    @Test func `U32: a ghost in a list without sections is a failure, and does not vanish`()
        async throws
    {
        let list = ListModel<String, Note>(of: model) { list, pad in
            guard !pad.notes.isEmpty else { return }
            list.section("a")
            list.items(pad.notes(in: "a"))
        } ghost: { intent, _ in
            Pad.ghost(intent.event, intent.context)
        }
        try await model.perform(.posted("a1"), confirmOnly: true)
        #expect(list.failure == .invalid(.missingSection(for: "the ghost me.1.0")))
        try await model.perform(.posted("a2"))
        #expect(list.failure == nil)
        #expect(text(list.snapshot) == ["a: me.2.0=a2 2 pending, !me.1.0=a1 1 pending"])
    }
}
