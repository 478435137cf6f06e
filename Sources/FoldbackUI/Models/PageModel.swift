import Foldback
import Observation

/// Whether there are more rows beyond an edge of a page.
public enum EdgeState: Hashable, Sendable {
    /// There are more, so extending the page adds rows.
    case more
    /// The page has reached the last row.
    case end
}

/// Fetches rows beyond an edge from a server, and confirms them into the log.
///
/// - Parameters:
///   - edge: where rows are missing.
///   - last: the last row at the edge; nil if the page is empty.
/// - Returns: whether the server has more rows there.
public typealias PageFetch<Element, Failure: Error> =
    @Sendable (_ edge: ListEdge, _ last: Element?) async throws(Failure) -> EdgeState

/// A window of a table or an index of a ``RowsModel``: a run of rows that can be extended at both
/// ends.
///
/// ```swift
/// let pages = model.pages(of: Inbox.bySent, order: .descending)
/// ForEach(pages.rows.value(or: [])) { MessageRow($0.row) }
/// if pages.end.success == .more { ProgressView().onAppear { pages.extend(.end) } }
/// ```
///
/// The page is read again after each commit that touched its table, together with the model's
/// selections. It is equal to a read of the rows between its ends at the model's `revision` (U23).
/// If an end has reached the end of the range, rows that are added beyond belong to the page. If
/// the page has more than `windowMax` rows, it drops rows at the edge that was not extended last.
///
/// Local rows come first. If there are no more, `fetch` asks a server for rows.
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
    let relay = ValueRelay<RemoteData<[Element], ReadFailure>>(.loading)
    @ObservationIgnored private var shownRows: RemoteData<[Element], ReadFailure> = .loading
    @ObservationIgnored private var edges: EdgePair<PageEdge<Failure>>
    @ObservationIgnored private let fetch: PageFetch<Element, Failure>?
    @ObservationIgnored private var fetching = EdgePair<Task<Void, Never>?>(start: nil, end: nil)
    /// Extends the rows that are read.
    @ObservationIgnored private var ask: @MainActor (ListEdge) -> Void = { _ in }
    @ObservationIgnored private var adoptNow: @MainActor () async -> Void = {}
    /// The membership in the model's parts.
    @ObservationIgnored private var membership: Listening?

    init<P, Place>(
        of model: RowsModel<P>, _ source: PageSource<P, Element, Place>,
        _ changes: RowObservation?, _ window: PageWindow<Place>,
        fetch: PageFetch<Element, Failure>?
    ) {
        self.fetch = fetch
        let edge = PageEdge<Failure>(beyond: fetch == nil ? .success(.end) : .notAsked)
        edges = EdgePair(start: edge, end: edge)
        let part = PagePart(self, source, changes, window)
        ask = { edge in
            part.ask(edge)
            model.readSoon()
        }
        adoptNow = { [link = model.link] in await link.adoptNow() }
        membership = model.parts.add(part)
        model.readSoon()
    }

    isolated deinit {
        fetching.start?.cancel()
        fetching.end?.cancel()
    }

    /// Adds up to `pageSize` rows at an edge.
    ///
    /// The edge is loading when this returns. If it is loading already, this does nothing, so it can
    /// be called whenever the last row appears. At ``EdgeState/end`` it does nothing either.
    public func extend(_ edge: ListEdge) {
        let now = edges[edge]
        guard !now.data.isLoading else { return }
        if now.end.isReached != true {
            change(edge) { $0.asked += 1 }
            ask(edge)
        } else if let fetch, now.beyond.success != .end {
            change(edge) { $0.beyond = .loading }
            let rows = rows.value(or: [])
            let last = edge == .start ? rows.first : rows.last
            fetching[edge] = Task { [weak self] in
                let answer = await RemoteData { () async throws(Failure) in
                    try await fetch(edge, last)
                }
                await self?.fetched(edge, answer)
            }
        }
    }

    /// Shows the rows that a fetch brought, and then its answer.
    private func fetched(_ edge: ListEdge, _ answer: RemoteData<EdgeState, Failure>) async {
        await adoptNow()
        change(edge) { $0.beyond = answer }
    }

    /// Shows what was read.
    ///
    /// - Parameter rows: nil if they are equal to those shown.
    func show(_ rows: RemoteData<[Element], ReadFailure>?, _ ends: EdgePair<PageEnd>) {
        if let rows { withMutation(keyPath: \.rows) { shownRows = rows } }
        for edge in ListEdge.allCases where edges[edge].end != ends[edge] {
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
