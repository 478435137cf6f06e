/// The functions that look at every row of a list, specialized for the app's items.
///
/// This module is compiled without the app's types, and there the same functions take five times as
/// long. So an inlinable function makes this value in the app's code: ``ListSnapshot/Builder/section(_:)``,
/// which the app calls to build a list. The value stays with the list, so that models use it later.
@usableFromInline
struct ListFunctions<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
>: Sendable where Item.ID: Sendable {
    @usableFromInline typealias Snapshot = ListSnapshot<SectionID, Item>

    @usableFromInline let storage:
        @Sendable ([Snapshot.Section]) throws(ListError) -> Snapshot.Storage
    @usableFromInline let areEqual: @Sendable (Snapshot, Snapshot) -> Bool

    @inlinable init() {
        storage = { sections throws(ListError) in try Snapshot.Storage(sections) }
        areEqual = { $0 == $1 }
    }
}

extension ListSnapshot {
    /// Returns whether two lists are equal, by specialized code.
    func isEqual(to other: ListSnapshot) -> Bool { storage.functions.areEqual(self, other) }
}
