import Foldback
import Synchronization

/// Whether there are more rows beyond an edge of a page.
public enum EdgeState: Hashable, Sendable {
    /// There are more, so extending the page adds rows.
    case more
    /// The page has reached the last row.
    case end
}

/// Fetches rows beyond an edge from a server, and confirms them into the log.
///
/// ```swift
/// { edge, last, report in
///     let hasMore = try await server.publishMessages(beyond: last?.key, edge)
///     report.signOfLife()
///     _ = try await downlink.fetch()
///     return hasMore ? .more : .end
/// }
/// ```
///
/// A log ignores events at or below the position that it has (F6). So the server publishes the rows
/// as new events, and the downlink fetches them.
///
/// - Parameters:
///   - edge: where rows are missing.
///   - last: the last row at the edge; nil if the page is empty.
///   - report: how the function says that its work goes on, and why it takes long.
/// - Returns: whether the server has more rows there.
public typealias PageFetch<Element, Failure: Error> =
    @Sendable (_ edge: ListEdge, _ last: Element?, _ report: FetchReport) async throws(Failure)
    -> EdgeState

// MARK: Waits

extension PageModel {
    /// Returns the wait for the fetch at an edge: when to show an indicator, its text, and what a
    /// person can do.
    ///
    /// ```swift
    /// WaitView(pages.progress(of: .end))
    /// ```
    ///
    /// Each edge has its own wait, the same as long as the page exists. Reading local rows is not a
    /// wait, so a page without a `fetch` never shows one.
    public func progress(of edge: ListEdge) -> ProgressModel { fetches[edge].progress }

    /// Cancels the fetch at an edge. The edge goes back to what was known before it.
    public func cancel(_ edge: ListEdge) { fetches[edge].cancel() }

    /// Does what a person has chosen from the actions of an edge's wait: cancels the fetch, begins
    /// it again, or only ends the wait.
    ///
    /// After a failure, ``extend(_:)`` begins the fetch again too. After ``EdgeState/end``, only
    /// `.restart` does, for example because the person asked for new rows. A page without a `fetch`
    /// has no wait, so this does nothing.
    public func perform(_ action: WaitAction, at edge: ListEdge) {
        if canFetch { fetches[edge].perform(action) }
    }
}

// MARK: Requests

/// How a page fetches rows beyond its edges.
struct EdgeFetch<Element: Equatable & Sendable, Failure: Error>: Sendable {
    let wait: Wait
    let policy: ProgressPolicy
    let fetch: PageFetch<Element, Failure>

    /// Fetches nothing.
    static var nothing: EdgeFetch {
        @Sendable func end(_: ListEdge, _: Element?, _: FetchReport) async throws(Failure)
            -> EdgeState
        {
            .end
        }
        return EdgeFetch(wait: Wait(.loading), policy: ProgressPolicy(), fetch: end)
    }

    /// Returns the model of the fetches at an edge. It does not keep the link.
    ///
    /// The model has an answer once the rows that the fetch brought are shown.
    @MainActor func model<Event>(
        _ edge: ListEdge, _ relay: Relay<RemoteData<[Element], ReadFailure>>,
        _ waits: PageWaits<Element>, _ link: StoreLink<Event>
    ) -> FetchModel<EdgeState, Failure> {
        let showRows: @MainActor @Sendable () async -> Void = { [weak link] in
            // A fetch that was canceled or superseded has no answer to show.
            guard !Task.isCancelled else { return }
            waits.end(edge)
            await link?.adoptNow()
        }
        @Sendable func request(_ report: FetchReport) async throws(Failure) -> EdgeState {
            let rows = relay.sent.value.success
            let last = rows == nil ? waits.last(at: edge) : rows?.last(at: edge)
            let answer: Result<EdgeState, Failure>
            do throws(Failure) {
                answer = .success(try await fetch(edge, last, report))
            } catch {
                answer = .failure(error)
            }
            await showRows()
            return try answer.get()
        }
        return FetchModel(wait, policy: policy, cues: link.cues, sources: link.sources, request)
    }
}

/// The fetches in progress at a page's edges. A list of the page shows placeholders for them.
final class PageWaits<Element: Sendable>: Sendable {
    private struct Content {
        /// The last rows as the fetches began.
        var requests = EdgePair<Request?>(start: nil, end: nil)
        /// Whether the page has all local rows at the edge.
        var isReached = EdgePair(start: false, end: false)
        var changes = 0
    }

    private struct Request {
        /// Nil if the page was empty.
        let last: Element?
    }

    private let isBefore: @Sendable (Element, Element) -> Bool
    private let content = Mutex(Content())

    /// - Parameter isBefore: returns whether the first row comes before the second.
    init(_ isBefore: @escaping @Sendable (Element, Element) -> Bool) { self.isBefore = isBefore }

    /// How many times the edges with placeholders may have changed.
    var changeCount: Int { content.withLock { $0.changes } }

    /// Notes that a fetch is in progress, and returns whether there was none before.
    func begin(_ edge: ListEdge, last: Element?) -> Bool {
        content.withLock { content in
            guard content.requests[edge] == nil else { return false }
            content.requests[edge] = Request(last: last)
            content.changes += 1
            return true
        }
    }

    /// Notes that no fetch is in progress, and returns whether there was one before.
    @discardableResult func end(_ edge: ListEdge) -> Bool {
        content.withLock { content in
            guard content.requests[edge] != nil else { return false }
            content.requests[edge] = nil
            content.changes += 1
            return true
        }
    }

    /// The last row at an edge as the fetch began; nil if there is none.
    func last(at edge: ListEdge) -> Element? { content.withLock { $0.requests[edge]?.last } }

    /// Notes which ends of the range were reached.
    func reach(_ ends: EdgePair<Bool>) {
        content.withLock { content in
            guard content.isReached != ends else { return }
            content.isReached = ends
            content.changes += 1
        }
    }

    /// Returns the edges of `rows` where a fetch is in progress and has brought no row yet.
    func edges(of rows: [Element]) -> [ListEdge] {
        let (requests, isReached) = content.withLock { ($0.requests, $0.isReached) }
        return ListEdge.allCases.filter { edge in
            guard isReached[edge], let request = requests[edge] else { return false }
            guard let row = rows.last(at: edge) else { return true }
            guard let last = request.last else { return false }
            return edge == .end ? !isBefore(last, row) : !isBefore(row, last)
        }
    }
}

extension Array {
    /// The outermost element at an edge.
    func last(at edge: ListEdge) -> Element? { edge == .start ? first : last }
}
