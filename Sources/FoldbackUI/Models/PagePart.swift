import Foldback
import Synchronization

/// What a page's reader knows about an edge.
struct PageEnd: Equatable, Sendable {
    /// Whether the run has reached the range's end; nil before the first read.
    var isReached: Bool?
    /// The extensions that were carried out. The first read counts as one.
    var extensions = 0
}

/// An extension of a page by local rows.
struct PageExtension: Sendable {
    let edge: ListEdge
    /// Whether the edge is loading until it is done. Not during a fetch, which has its own answer.
    let isAwaited: Bool
}

/// The reader's side of a ``PageModel`` (U23).
///
/// It reads only if the page was extended, or if a row of the page's table changed.
final class PagePart<P, Element, Place, Failure>: RowPart
where
    P: StoredProjection, Element: Identifiable & Equatable & Sendable, Place: Sendable,
    Failure: Error
{
    private struct State {
        var window: PageWindow<Place>
        /// The extensions to carry out, in the order in which they were asked for.
        var asked = ListEdge.allCases.map { PageExtension(edge: $0, isAwaited: true) }
        var ends = EdgePair(start: PageEnd(), end: PageEnd())
        /// The sequence of the last read; nil before the first read, and after a failure.
        var readAt: LogSequence?
        /// Whether rows changed after `readAt`, at `watched` or earlier.
        var isTouched = false
        var watched: LogSequence = 0
    }

    private weak let page: PageModel<Element, Failure>?
    private let source: PageSource<P, Element, Place>
    /// Nil if the store is closed or has no such table. Each read fails then.
    private let changes: RowObservation?
    private let relay: Relay<RemoteData<[Element], ReadFailure>>
    private let waits: PageWaits<Element>
    private let state: Mutex<State>

    init(
        _ page: PageModel<Element, Failure>, _ source: PageSource<P, Element, Place>,
        _ changes: RowObservation?, _ window: PageWindow<Place>
    ) {
        self.page = page
        (relay, waits) = (page.relay, page.waits)
        self.source = source
        self.changes = changes
        state = Mutex(State(window: window))
    }

    /// Extends an edge at the next read.
    func ask(_ next: PageExtension) { state.withLock { $0.asked.append(next) } }

    func prepare() {
        guard let gathered = changes?.take() else { return }
        state.withLock { state in
            state.watched = gathered.sequence
            // The last read may have been ahead of the watcher.
            if let readAt = state.readAt, gathered.sequence <= readAt { return }
            if !gathered.isEmpty { state.isTouched = true }  // mutant: page-touched
        }
    }

    func isStale(at sequence: LogSequence) -> Bool {
        state.withLock { state in
            guard state.asked.isEmpty, let readAt = state.readAt else { return true }
            // The watcher hears of a commit a moment after readers see it.
            return readAt != sequence && (state.isTouched || state.watched != sequence)
        }
    }

    func read(_ reader: borrowing RowReader<P>) -> ShowPart? {
        var (window, asked) = state.withLock { ($0.window, $0.asked) }
        do {
            let rows = try window.read(source, reader, extending: asked.map(\.edge))
            let sequence = reader.sequence
            return send(.success(rows), done: asked) { [window] state in
                state.window = window
                state.readAt = sequence
                state.isTouched = false
            }
        } catch {
            return fail(ReadFailure(error))
        }
    }

    func fail(_ failure: ReadFailure) -> ShowPart? {
        // Nobody waits for an extension that has failed. It can be asked for again.
        let asked = state.withLock { $0.asked }
        // The last rows of a closed store stay (U29).
        let last = relay.sent.value
        let rows = failure == .closed && last.isSuccess ? last : .failure(failure)
        return send(rows, done: asked) { $0.readAt = nil }
    }

    private func send(
        _ rows: RemoteData<[Element], ReadFailure>, done: [PageExtension],
        _ update: (inout State) -> Void
    ) -> ShowPart? {
        let (old, ends) = state.withLock { state in
            let old = state.ends
            update(&state)
            state.asked.removeFirst(done.count)
            for done in done where done.isAwaited { state.ends[done.edge].extensions += 1 }
            for edge in ListEdge.allCases {
                state.ends[edge].isReached = state.window.isReached[edge]
            }
            return (old, state.ends)
        }
        waits.reach(EdgePair(start: ends.start.isReached == true, end: ends.end.isReached == true))
        let areNew = relay.send(rows)
        if !areNew, ends == old { return nil }
        return { [relay, version = relay.sent, weak page] in
            page?.show(relay.show(version), ends)
        }
    }
}
