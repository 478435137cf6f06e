/// What has changed between two snapshots of a list.
///
/// ```swift
/// let next = posts.snapshot  // of a ListModel, which publishes whole snapshots
/// let difference = next.difference(from: drawn)
/// for change in difference.changes { reconfigure(cell(at: change.place), for: change.row) }
/// drawn = next
/// ```
/// A difference is a pure function of two snapshots, on any task.
///
/// The places follow UIKit's batch updates: deletions and the sources of moves are places in the old
/// snapshot. Insertions, the targets of moves, and changes are places in the new snapshot. For a
/// list that accepts only one edit at a time, use ``steps``.
///
/// These are the laws for any two snapshots (U21):
/// - ``applied(to:)`` and ``steps`` lead from the old snapshot to the new snapshot.
/// - The difference is empty exactly if the snapshots are equal.
/// - Deletions and insertions are the differences between the sets of ids. They include the rows of
///   deleted and inserted sections.
/// - The moves within a section are as few as possible. A row that changed its section has one move.
///   A row that only moved with its section has none.
///
/// A row that moved and changed has a move and a change.
public struct ListDifference<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
>: Sendable, Equatable where Item.ID: Sendable {
    public typealias Snapshot = ListSnapshot<SectionID, Item>
    public typealias RowID = Snapshot.RowID
    public typealias Row = Snapshot.Row

    /// The deleted sections, ascending in the old snapshot.
    public internal(set) var sectionDeletions: [SectionEdit] = []
    /// The inserted sections, ascending in the new snapshot.
    public internal(set) var sectionInsertions: [SectionEdit] = []
    /// The moved sections, ascending by target.
    public internal(set) var sectionMoves: [SectionMove] = []
    /// The deleted rows, ascending in the old snapshot.
    public internal(set) var deletions: [Deletion] = []
    /// The inserted rows, ascending in the new snapshot.
    public internal(set) var insertions: [Insertion] = []
    /// The moved rows, ascending by target.
    public internal(set) var moves: [Move] = []
    /// The rows of both snapshots whose content or status differs, ascending in the new snapshot.
    public internal(set) var changes: [Change] = []
    /// Pairs of a deleted and an inserted row that a view may cross-fade, ascending by insertion.
    ///
    /// A placeholder is paired with the item that has arrived in its slot (U20). A ghost is paired
    /// with the row of the intent that retries it (U32). Both rows are also in ``deletions`` and
    /// ``insertions``, and a row is in at most one pair.
    public internal(set) var replacements: [Replacement] = []

    /// The numbers of sections. ``steps`` needs them to know where the sections are meanwhile.
    @usableFromInline var oldSectionCount = 0
    @usableFromInline var newSectionCount = 0

    @usableFromInline init() {}

    /// A deleted section with its index in the old snapshot, or an inserted section with its index
    /// in the new snapshot.
    public struct SectionEdit: Hashable, Sendable {
        public let index: Int
        public let id: SectionID
    }

    /// A section that has passed others, with its indexes in the old and new snapshot.
    public struct SectionMove: Hashable, Sendable {
        public let from: Int
        public let to: Int
        public let id: SectionID
    }

    /// A deleted row, with its place in the old snapshot.
    public struct Deletion: Hashable, Sendable {
        public let place: RowPlace
        public let id: RowID
    }

    /// An inserted row, with its place in the new snapshot.
    public struct Insertion: Equatable, Sendable {
        public let place: RowPlace
        public let row: Row

        @inlinable init(place: RowPlace, row: Row) {
            self.place = place
            self.row = row
        }
    }

    /// A row that has passed others or changed its section, with its places in the old and new
    /// snapshot.
    public struct Move: Hashable, Sendable {
        public let from: RowPlace
        public let to: RowPlace
        public let id: RowID

        @inlinable init(from: RowPlace, to: RowPlace, id: RowID) {
            self.from = from
            self.to = to
            self.id = id
        }
    }

    /// A row with a new content or status, as it is in the new snapshot, with its place there.
    public struct Change: Equatable, Sendable {
        public let place: RowPlace
        public let row: Row
        public let kinds: ListChangeKinds

        @inlinable init(place: RowPlace, row: Row, kinds: ListChangeKinds) {
            self.place = place
            self.row = row
            self.kinds = kinds
        }
    }

    /// The places of a deleted row in the old snapshot, and of the inserted row in the new snapshot.
    public struct Replacement: Hashable, Sendable {
        public let deletion: RowPlace
        public let insertion: RowPlace
    }

    /// Whether the snapshots are equal.
    public var isEmpty: Bool {
        sectionDeletions.isEmpty && sectionInsertions.isEmpty && sectionMoves.isEmpty
            && deletions.isEmpty && insertions.isEmpty && moves.isEmpty && changes.isEmpty
    }
}

/// What has changed in a row: what a view has to draw again (U22).
public struct ListChangeKinds: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The row's content, or whether it has content.
    public static let content = ListChangeKinds(rawValue: 1)
    /// The row's status, or whether it is a ghost. If a correct prediction is confirmed, this is
    /// the only change.
    public static let status = ListChangeKinds(rawValue: 2)
}
