import Foldback
import Observation

/// A window of a table or an index of a ``RowsModel``: a run of rows that can be extended at both
/// ends.
///
/// ```swift
/// let pages = model.pages(of: Inbox.bySent, order: .descending)
/// ForEach(pages.rows.value(or: [])) { MessageRow($0.row) }
/// if pages.end.success != .end { Button("More") { pages.extend(.end) } }
/// WaitView(pages.progress(of: .end))
/// ```
///
/// The page is read again after each commit that touched its table, together with the model's
/// selections. It is equal to a read of the rows between its ends at the model's `revision` (U23).
/// If an end has reached the end of the range, rows that are added beyond belong to the page. If
/// the page has more than `windowMax` rows, it drops rows at the edge that was not extended last.
///
/// Local rows come first. If there are no more, `fetch` asks a server for rows. Each edge's fetch has
/// a wait; see ``progress(of:)``. A ``ListModel`` of the page shows placeholders in the meantime.
///
/// It keeps its model. Do not use it for a few rows: ``RowsModel/select(_:)`` is simpler.
@MainActor @Observable
public final class PageModel<Element: Identifiable & Equatable & Sendable, Failure: Error> {
    /// The rows in order: loading until the first read. A failed read is a failure, and is repeated
    /// with the next update. Observers are notified only if the rows differ.
    public var rows: RemoteData<[Element], ReadFailure> {
        access(keyPath: \.rows)
        return shownRows
    }

    /// What lies before the first row; see ``end``.
    public var start: RemoteData<EdgeState, Failure> {
        access(keyPath: \.start)
        return edges.start.data
    }

    /// What lies after the last row. Loading while the page is extended there.
    ///
    /// If all local rows are shown and the page has a `fetch`: the last answer of `fetch`, or not
    /// asked. Without `fetch`, the end of the local rows is ``EdgeState/end``.
    public var end: RemoteData<EdgeState, Failure> {
        access(keyPath: \.end)
        return edges.end.data
    }

    /// The rows on their way from the reader.
    let relay = Relay<RemoteData<[Element], ReadFailure>>(.loading)
    @ObservationIgnored private var shownRows: RemoteData<[Element], ReadFailure> = .loading
    @ObservationIgnored private var edges: EdgePair<PageEdge<Failure>>
    /// The fetches at the edges. Without a `fetch`, they never begin.
    let fetches: EdgePair<FetchModel<EdgeState, Failure>>
    /// Whether the page has a `fetch`.
    let canFetch: Bool
    /// The fetches in progress, for lists of the page.
    let waits: PageWaits<Element>
    /// Extends the rows that are read.
    @ObservationIgnored private var ask: @MainActor (PageExtension) -> Void = { _ in }
    @ObservationIgnored private var readSoon: @MainActor () -> Void = {}
    /// The membership in the model's parts.
    @ObservationIgnored private var membership: Listening?

    init<P, Place>(
        of model: RowsModel<P>, _ source: PageSource<P, Element, Place>,
        _ changes: RowObservation?, _ window: PageWindow<Place>,
        _ fetch: EdgeFetch<Element, Failure>?
    ) {
        let edge = PageEdge<Failure>(beyond: fetch == nil ? .success(.end) : .notAsked)
        edges = EdgePair(start: edge, end: edge)
        canFetch = fetch != nil
        waits = PageWaits { source.isBefore(source.place($0), source.place($1)) }
        let fetch = fetch ?? .nothing
        fetches = EdgePair(
            start: fetch.model(.start, relay, waits, model.link),
            end: fetch.model(.end, relay, waits, model.link))
        let part = PagePart(self, source, changes, window)
        ask = {
            part.ask($0)
            model.readSoon()
        }
        readSoon = { model.readSoon() }
        membership = model.parts.add(part)
        for edge in ListEdge.allCases {
            fetches[edge].stateChanged = { [weak self] in self?.fetchChanged(edge) }
        }
        model.readSoon()
    }

    /// Adds up to `pageSize` rows at an edge.
    ///
    /// The edge is loading when this returns. If it is loading already, this does nothing, so it can
    /// be called whenever the last row appears. At ``EdgeState/end`` it does nothing either.
    public func extend(_ edge: ListEdge) {
        let now = edges[edge]
        guard !now.data.isLoading else { return }
        let isAllShown = now.end.isReached == true && shownRows.isSuccess
        if isAllShown, now.beyond.success == .end { return }
        if isAllShown {
            fetches[edge].ask()
        } else {
            change(edge) { $0.asked += 1 }
            ask(PageExtension(edge: edge, isAwaited: true))
        }
    }

    /// Shows whether a fetch is in progress, or its answer.
    private func fetchChanged(_ edge: ListEdge) {
        let state = fetches[edge].state
        let isFetching = state.activity != .idle
        let last = shownRows.success?.last(at: edge)
        let isChanged = isFetching ? waits.begin(edge, last: last) : waits.end(edge)
        change(edge) { $0.beyond = isFetching ? .loading : state.outcome }
        guard isChanged else { return }
        // Rows that the fetch brings stay if the page becomes too long.
        if isFetching { ask(PageExtension(edge: edge, isAwaited: false)) }
        // Lists get placeholders, or lose them.
        readSoon()
    }

    /// Shows what was read.
    ///
    /// - Parameter rows: nil if they are equal to those shown.
    func show(_ rows: RemoteData<[Element], ReadFailure>?, _ ends: EdgePair<PageEnd>) {
        if let rows { withMutation(keyPath: \.rows) { shownRows = rows } }
        for edge in ListEdge.allCases where edges[edge].end != ends[edge] {
            let (old, new) = (edges[edge].end.extensions, ends[edge].extensions)
            precondition(new >= old, "the \(edge) has had \(old) extensions, and now \(new) (U23)")
            change(edge) { $0.end = ends[edge] }
        }
    }

    private func change(_ edge: ListEdge, _ body: (inout PageEdge<Failure>) -> Void) {
        var next = edges[edge]
        body(&next)
        guard !next.isShown(as: edges[edge]) else {
            edges[edge] = next
            return
        }
        switch edge {
        case .start: withMutation(keyPath: \.start) { edges.start = next }
        case .end: withMutation(keyPath: \.end) { edges.end = next }
        }
    }
}

/// An edge of a page.
private struct PageEdge<Failure: Error> {
    /// The extensions that were asked for. The first read counts as one.
    var asked = 1
    var end = PageEnd()
    /// What lies beyond the local rows.
    var beyond: RemoteData<EdgeState, Failure>

    var data: RemoteData<EdgeState, Failure> {
        if asked > end.extensions { return .loading }
        guard let isReached = end.isReached else { return .notAsked }
        return isReached ? beyond : .success(.more)
    }

    /// Returns whether both look the same to a view. False for two failures, which need not be
    /// comparable.
    func isShown(as other: PageEdge) -> Bool {
        switch (data, other.data) {
        case (.notAsked, .notAsked), (.loading, .loading): true
        case (.success(let state), .success(let other)): state == other
        case (.notAsked, _), (.loading, _), (.failure, _), (.success, _): false
        }
    }
}
