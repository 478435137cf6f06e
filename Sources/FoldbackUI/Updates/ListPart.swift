import Foldback
import Synchronization

/// A list of a model, whatever the type of its rows.
///
/// One reader of updates calls it, on no particular actor (U28).
protocol AnyListPart<Event>: AnyObject, Sendable {
    associatedtype Event: Sendable

    /// Builds the list if something has changed, and returns how to show it; nil if it is equal to
    /// the list built last.
    func build(_ table: StatusTable, areMarksChanged: Bool) -> ShowPart?
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

/// The reader's side of a ``ListModel``.
///
/// The reader builds the list and compares it with the list before, so that the main actor does not
/// (U28).
final class ListPart<
    Event: Sendable, Input: Sendable, SectionID: Hashable & Sendable,
    Item: Identifiable & Equatable & Sendable
>: AnyListPart where Item.ID: Sendable {
    typealias Snapshot = ListSnapshot<SectionID, Item>
    typealias Rows = @Sendable (inout Snapshot.Builder, Input) throws(ListError) -> Void
    /// Shows what is not nil.
    typealias Show = @MainActor @Sendable (Snapshot?, ListProgress?) -> Void

    /// How a list reads its model.
    struct Source: Sendable {
        /// Returns what the rows are made of. Loading if it was not read yet.
        let input: @Sendable () -> RemoteData<Input, ReadFailure>
        /// Returns a number that changes with the input.
        let revision: @Sendable () -> Int
        /// Returns the item whose status a row has; nil if the row has none.
        let itemID: @Sendable (Item.ID) -> AnyItemID?
        /// Returns the item of a hidden intent; nil if it has none.
        let ghost: @Sendable (HiddenIntent<Event>, Input) -> Item?
    }

    private let source: Source
    private let rows: Rows
    private let shows: Show
    private let snapshots = Relay(Snapshot()) { old, new in new.isEqual(to: old) }
    private let progress = Relay(ListProgress())
    /// Whether a rebuild was asked for, and the source's revision at the last build.
    private let state = Mutex<(isRebuildAsked: Bool, revision: Int?)>((false, nil))

    init(_ source: Source, _ rows: @escaping Rows, shows: @escaping Show) {
        self.source = source
        self.rows = rows
        self.shows = shows
    }

    /// Builds the list at the next read.
    func askRebuild() { state.withLock { $0.isRebuildAsked = true } }

    func build(_ table: StatusTable, areMarksChanged: Bool) -> ShowPart? {
        let revision = source.revision()
        let isInputChanged = state.withLock { state in
            defer { state = (false, revision) }
            return state.isRebuildAsked || state.revision != revision
        }
        let isStale = areMarksChanged || isInputChanged  // mutant: list-marks
        guard isStale else { return nil }
        switch source.input() {
        case .notAsked, .loading: return nil
        case .failure(let failure): return send(nil, .unreadable(failure))
        case .success(let input):
            do throws(ListError) {
                return send(try snapshot(input, table), nil)
            } catch {
                return send(nil, .invalid(error))
            }
        }
    }

    private func snapshot(_ input: Input, _ table: StatusTable) throws(ListError) -> Snapshot {
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

    /// - Parameter snapshot: nil if the last list stays.
    private func send(_ snapshot: Snapshot?, _ failure: ListFailure?) -> ShowPart? {
        let isLoading = snapshot == nil && progress.sent.value.isLoading
        let areNew = [
            snapshot.map(snapshots.send) ?? false,
            progress.send(ListProgress(isLoading: isLoading, failure: failure)),
        ]
        guard areNew.contains(true) else { return nil }
        return { [self, list = snapshots.sent, state = progress.sent] in
            shows(snapshots.show(list), progress.show(state))
        }
    }
}

/// How far a list was built.
struct ListProgress: Equatable, Sendable {
    /// Whether no list could be built yet.
    var isLoading = true
    /// Why the last list could not be built.
    var failure: ListFailure?
}
