import Foldback
import Synchronization

/// A list of a model. It is built again with the updates.
///
/// One reader of updates calls it, on no particular actor (U28).
protocol ListPart<Event>: AnyObject, Sendable {
    associatedtype Event: Sendable

    /// Builds the list.
    ///
    /// - Parameter isChanged: whether the state or the marks may differ from those of the last
    ///   build. If not, only a list that was never built, or whose rebuild was asked for, is built.
    func build(_ published: PublishedState, _ table: StatusTable, isChanged: Bool)

    /// Returns how to show the list, with its difference from the list that the receiver has. Nil if
    /// the list was put into the mailbox already.
    func show() -> ShowPart?

    /// Notes that what ``show()`` returned is in the mailbox.
    func wasPut()

    /// Notes that the receiver has taken everything from the mailbox.
    func wasReceived()
}

/// The reason why a list could not be built.
@nonexhaustive
public enum ListFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The app's function made rows that are not a list (U19).
    case invalid(ListError)
    /// The rows of a table could not be read.
    case unreadable(ReadFailure)

    public var description: String {
        switch self {
        case .invalid(let error): error.description
        case .unreadable(let failure): failure.description
        }
    }
}

/// A list on its way from the reader to the main actor.
///
/// The reader builds it, compares it and computes differences, so that the main actor does not (U28).
final class ListRelay<
    Event: Sendable, Input: Sendable, SectionID: Hashable & Sendable,
    Item: Identifiable & Equatable & Sendable
>: ListPart where Item.ID: Sendable {
    typealias Snapshot = ListSnapshot<SectionID, Item>
    typealias Rows = @Sendable (inout Snapshot.Builder, Input) throws(ListError) -> Void
    typealias Show =
        @MainActor @Sendable (
            Snapshot, ListDifference<SectionID, Item>, ListFailure?
        ) -> Void

    /// How a list reads its model.
    struct Source: Sendable {
        /// Returns what the rows are made of. Loading if it was not read yet.
        let input: @Sendable (PublishedState) -> RemoteData<Input, ReadFailure>
        /// Returns a number that changes when rows were read; constant for the states of a value.
        let revision: @Sendable () -> Int
        /// Returns the item whose status a row has; nil if the row has none.
        let itemID: @Sendable (Item.ID) -> AnyItemID?
        /// Returns the item of a hidden intent; nil if it has none.
        let ghost: @Sendable (HiddenIntent<Event>, Input) -> Item?
    }

    /// A built list with an identity. Equal lists have the same version.
    private final class Version: Sendable {
        let snapshot: Snapshot
        let failure: ListFailure?

        init(_ snapshot: Snapshot, _ failure: ListFailure?) {
            self.snapshot = snapshot
            self.failure = failure
        }
    }

    private struct State {
        var isRebuildAsked = false
        /// The source's revision at the last build.
        var revision: Int?
        /// The list that was built last.
        var built: Version?
        /// The list that is in the mailbox, or was taken from it last.
        var put: Version?
        /// The list that the receiver has.
        var received: Version?
    }

    private let source: Source
    private let rows: Rows
    private let state = Mutex(State())
    private let shows: Show

    init(_ source: Source, _ rows: @escaping Rows, shows: @escaping Show) {
        self.source = source
        self.rows = rows
        self.shows = shows
    }

    /// Builds the list at the next read.
    func askRebuild() { state.withLock { $0.isRebuildAsked = true } }

    func build(_ published: PublishedState, _ table: StatusTable, isChanged: Bool) {
        let revision = source.revision()
        let (isStale, last) = state.withLock { state in
            defer { (state.isRebuildAsked, state.revision) = (false, revision) }
            let isRead = state.revision != revision
            return (isChanged || isRead || state.isRebuildAsked || state.built == nil, state.built)
        }
        guard isStale else { return }
        let input: Input
        switch source.input(published) {
        case .notAsked, .loading: return
        case .success(let read): input = read
        case .failure(let failure):
            return set(last?.snapshot ?? Snapshot(), .unreadable(failure))
        }
        do throws(ListError) {
            set(try build(input, table), nil)
        } catch {
            // The last list stays.
            set(last?.snapshot ?? Snapshot(), .invalid(error))
        }
    }

    private func build(
        _ input: Input, _ table: StatusTable
    ) throws(ListError) -> Snapshot {
        var marks = ListMarks<Item>()
        for (_, hidden) in table.hidden {
            guard let intent = hidden.intent(Event.self), let item = source.ghost(intent, input)
            else { continue }
            marks.add(item, intent.mark)
        }
        let statuses = { [source] (id: Item.ID) -> ItemStatus in
            source.itemID(id).map(table.status) ?? .settled
        }
        return try Snapshot(
            marks, statuses: table.isEmpty ? nil : statuses
        ) { list throws(ListError) in try rows(&list, input) }
    }

    private func set(_ snapshot: Snapshot, _ failure: ListFailure?) {
        let known = state.withLock { [$0.built, $0.put, $0.received] }
        let same = known.lazy.compactMap(\.self).first {
            $0.failure == failure && snapshot.isEqual(to: $0.snapshot)
        }
        let version = same ?? Version(snapshot, failure)
        state.withLock { $0.built = version }
    }

    func show() -> ShowPart? {
        let (built, put, received) = state.withLock { ($0.built, $0.put, $0.received) }
        guard let built, built !== put else { return nil }
        // What is in the mailbox is replaced by nothing.
        if built === received { return {} }
        let old = received?.snapshot ?? Snapshot()  // mutant: list-received
        let difference = built.snapshot.specializedDifference(from: old)
        return { [shows] in shows(built.snapshot, difference, built.failure) }
    }

    func wasPut() { state.withLock { $0.put = $0.built } }

    func wasReceived() { state.withLock { $0.received = $0.put } }
}
