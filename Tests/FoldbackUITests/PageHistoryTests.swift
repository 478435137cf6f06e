import Foldback
import FoldbackTesting
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from the question whether a page that skips commits, at random frames, and is extended while
/// commits are on their way, ever loses a row, or shows its edges, its list and its rows at
/// different moments.
///
/// Properties: at each moment, a page is a naive window over the states that were read up to the
/// model's revision, with the extensions that were asked for, and its edges say whether there are
/// more rows (U23). Its list has the same rows, and each difference begins with the list before
/// (U25). After each burst of random commands, the list has the statuses that a naive reader
/// computes from the log, its ghosts (U32), and placeholders at the edges where a fetch has brought
/// no rows (U20).
@MainActor @Suite struct PageHistoryTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U23: pages of a table and their list are right, while commits and extensions overlap`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("page histories, \(kind)", variable: "PAGE_HISTORY_SEED")
        for seed in first..<first + TestEffort.value(quick: 10, full: 20) {
            let play = PagePlay(seed, try await store(seed, kind), key: \RowEntry<String, Int>.key)
            { model, fetch in
                model.pages(
                    of: RowBoard.cells, in: .keys(from: "c02"), pageSize: 2, windowMax: 5,
                    fetch: fetch)
            } all: { rows in
                try rows.page(of: RowBoard.cells, in: .keys(from: "c02"), limit: .max)
            } precedes: {
                $0.key < $1.key
            }
            try await play.run()
        }
    }

    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U23: pages of an index and their list are right, while commits and extensions overlap`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("page histories, index, \(kind)", variable: "PAGE_HISTORY_SEED")
        for seed in first..<first + TestEffort.value(quick: 10, full: 20) {
            let play = PagePlay(
                seed, try await store(seed, kind), key: \IndexedRow<Int, String, Int>.key
            ) {
                model, fetch in
                model.pages(
                    of: RowBoard.byValue, order: .descending, pageSize: 2, windowMax: 5,
                    fetch: fetch)
            } all: { rows in
                try rows.page(of: RowBoard.byValue, order: .descending, limit: .max)
            } precedes: {
                ($0.indexKey, $0.key) > ($1.indexKey, $1.key)
            }
            try await play.run()
        }
    }

    /// A store after random commands.
    private func store(_ seed: UInt64, _ kind: LogKind) async throws -> Store<RowBoard> {
        var random = SeededGenerator(seed: ~seed)
        let store = Store.rowBoard(kind)
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            try await store.act(on: PageHistoryTests.keys, &random)
        }
        return store
    }

    fileprivate static let keys = (0..<14).map { $0 < 10 ? "c0\($0)" : "c\($0)" }
}

/// One random history.
@MainActor private final class PagePlay<Element: Identifiable & Equatable & Sendable> {
    private let seed: UInt64
    private let store: Store<RowBoard>
    private let frames: Frames
    private let model: RowsModel<RowBoard>
    private let pages: PageModel<Element, RequestError>
    private let list: ListModel<String, Note>
    private let key: @Sendable (Element) -> String
    private let oracle: PageOracle<Element>
    private let servers = (start: FetchServer(), end: FetchServer())
    private var fetches: [ListEdge: Fetch] = [:]
    /// The last answers of the edges.
    private var answers: [ListEdge: RemoteData<EdgeState, RequestError>] = [:]
    private var story: [String] = []
    private var follower: ListFollower?
    private var hasFailed = false

    /// A fetch that was not canceled, and whose answer was not seen.
    private struct Fetch {
        /// The last row as it began.
        let last: Element?
        /// The calls of the edge's server before it.
        var calls: Int
        var answer: RemoteData<EdgeState, RequestError>?
    }

    init(
        _ seed: UInt64, _ store: Store<RowBoard>, key: @escaping @Sendable (Element) -> String,
        pages makePages: (
            RowsModel<RowBoard>, @escaping PageFetch<Element, RequestError>
        ) -> PageModel<Element, RequestError>,
        all: @escaping @Sendable (borrowing RowReader<RowBoard>) throws -> [Element],
        precedes: @escaping (Element, Element) -> Bool
    ) {
        (self.seed, self.store, self.key) = (seed, store, key)
        var random = SeededGenerator(seed: seed)
        frames = Frames(held: random.oneIn(2))
        model = RowsModel(store, sources: frames.sources)
        oracle = PageOracle(model, NaiveWindow(pageSize: 2, windowMax: 5, precedes), all)
        let (start, end) = (servers.start.fetch, servers.end.fetch)
        pages = makePages(model) { edge, _, report async throws(RequestError) in
            try await (edge == .start ? start : end)(report) == 0 ? .end : .more
        }
        list = ListModel(of: pages, in: model, placeholders: 2) { list, elements in
            list.section("cells")
            list.items(elements.map { Note(id: key($0)) })
        } ghost: { intent, _ in
            RowBoard.items(of: intent.event, intent.context).first.map { Note(id: $0.id) }
        }
        follower = ListFollower(list) { [unowned self] problem in
            check(problem == nil, problem ?? "")
        } changed: { [weak self] in
            self?.checkNow()
        }
    }

    /// Records the first failure. After it, nothing is known.
    private func check(_ condition: Bool, _ what: @autoclosure () -> String) {
        guard !condition, !hasFailed else { return }
        hasFailed = true
        Issue.record("\(what()), seed \(seed): \(story.suffix(20))")
    }

    func run() async throws {
        var random = SeededGenerator(seed: seed &+ 1)
        await oracle.isRead()
        await until { [pages] in pages.rows.isSuccess }
        for _ in 0..<25 where !hasFailed {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                try await act(&random)
                if random.oneIn(3) { frames.begin() }
                for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                checkNow()
            }
            await settle()
            checkNow()
            let expected = try expected()
            check(listed == expected, "\(listed), not \(expected)")
            follower?.catchUp()
            check(follower?.snapshot == list.snapshot, "a list that was not told")
            if random.oneIn(2) { extend(random.oneIn(2) ? .start : .end) }
            checkNow()
        }
        for server in [servers.start, servers.end] {
            for call in 0..<server.count { await server.answer(call, .success(0)) }
        }
    }

    // MARK: Acts

    private func act(_ random: inout SeededGenerator) async throws {
        checkNow()
        let edge: ListEdge = random.oneIn(2) ? .start : .end
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: extend(edge)
        case 3:
            let isFailure = random.oneIn(4)
            await answer(edge, isFailure ? .failure("no") : .success(random.oneIn(4) ? 0 : 1))
        case 4 where fetches[edge] != nil:
            end(edge, isRestart: random.oneIn(2))
        case 5:
            _ = try? await model.perform(.set("c0\(seed % 10)", story.count))
            story.append("perform")
        default:
            story.append(try await store.act(on: PageHistoryTests.keys, &random))
        }
    }

    private func data(_ edge: ListEdge) -> RemoteData<EdgeState, RequestError> {
        edge == .start ? pages.start : pages.end
    }

    /// Extends the page. A fetch begins only after a pause, because its first placeholders depend on
    /// the rows that were read.
    private func extend(_ edge: ListEdge) {
        let mayFetch = data(edge).success != .more || answers[edge]?.success == .more
        guard !data(edge).isLoading, !mayFetch || isSettled else { return }
        story.append("extend \(edge)")
        if data(edge).success == .end { return pages.extend(edge) }
        let rows = pages.rows.value(or: [])
        let calls = server(edge).count
        let wasOver = isOver(edge)
        pages.extend(edge)
        let isFetch = wasOver && !isOver(edge)
        oracle.ask(edge, isAwaited: !isFetch)
        guard isFetch else { return }
        fetches[edge] = Fetch(last: edge == .start ? rows.first : rows.last, calls: calls)
    }

    /// Answers a fetch whose call has arrived.
    private func answer(_ edge: ListEdge, _ answer: FetchServer.Answer) async {
        let call = server(edge).count - 1
        guard let fetch = fetches[edge], fetch.answer == nil, call >= fetch.calls,
            !server(edge).isCanceled(call)
        else { return }
        story.append("answer \(edge) \(answer)")
        fetches[edge]?.answer = RemoteData(answer).map { $0 == 0 ? .end : .more }
        await server(edge).answer(call, answer)
    }

    /// Cancels a fetch, or begins it again.
    private func end(_ edge: ListEdge, isRestart: Bool) {
        if isRestart, fetches[edge]?.answer == nil {
            story.append("restart \(edge)")
            fetches[edge]?.calls = server(edge).count
            pages.perform(.restart, at: edge)
        } else {
            story.append("cancel \(edge)")
            fetches[edge] = nil
            pages.cancel(edge)
        }
    }

    private func server(_ edge: ListEdge) -> FetchServer {
        edge == .start ? servers.start : servers.end
    }

    /// Whether no fetch is in progress.
    private func isOver(_ edge: ListEdge) -> Bool {
        switch pages.progress(of: edge).appearance?.phase {
        case nil, .ended: true
        case .instant, .busy, .waiting, .long, .stalled: false
        }
    }

    // MARK: Checks

    private var isSettled: Bool {
        model.revision == store.status.sequence && (try? expected()) == listed
    }

    /// Waits until the model has everything, also attempts, which change no sequence.
    private func settle() async {
        for _ in 0..<20_000 {
            frames.begin()
            if isSettled { return }
            await Task.yield()
        }
    }

    /// Checks what is true at each moment.
    private func checkNow() {
        oracle.take(through: model.revision)
        for edge in ListEdge.allCases {
            guard let fetch = fetches[edge], let answer = fetch.answer else { continue }
            guard isOver(edge) else { continue }
            (fetches[edge], answers[edge]) = (nil, answer)
        }
        let isRight = oracle.keep { window, isAwaited in
            pages.rows == .success(window.rows)
                && ListEdge.allCases.allSatisfy { edge in
                    if isAwaited[edge] == true { return data(edge).isLoading }
                    let isReached = (edge == .start ? window.start : window.end) == nil
                    return data(edge) == (isReached ? beyond(edge) : .success(.more))
                }
        }
        let keys = pages.rows.success?.map(key) ?? []
        check(isRight, "\(keys), \(pages.start) to \(pages.end), not \(oracle.description)")
        guard !list.isLoading else { return }
        check(list.failure == nil, "\(list.failure, default: "")")
        let rows = list.snapshot.sections.flatMap(\.rows).filter { !$0.isGhost }
        check(rows.compactMap(\.content?.id) == keys, "\(listed), not \(keys)")
    }

    /// What a reached edge shows.
    private func beyond(_ edge: ListEdge) -> RemoteData<EdgeState, RequestError> {
        fetches[edge] == nil ? answers[edge] ?? .notAsked : .loading
    }

    /// The list as text.
    private var listed: [String] {
        list.snapshot.sections.flatMap(\.rows).map { row in
            "\(row.isGhost ? "!" : "")\(row.id)\(row.status.marks.map { " \($0.number) \($0.state.word)" })"
        }
    }

    /// The list as a naive reader computes it from the log and the page's rows.
    private func expected() throws -> [String] {
        let statuses = try store.naiveStatuses()
        let elements = pages.rows.value(or: [])
        func words(_ id: String) -> String {
            "\(id)\((statuses[id]?.marks ?? []).map { " \($0.number) \($0.state.word)" })"
        }
        let ghosts = try hiddenKeys().filter { key in !elements.contains { self.key($0) == key } }
        let (top, bottom) = (isWaiting(.start, elements), isWaiting(.end, elements))
        return (top ? ["cells start 1[]", "cells start 0[]"] : [])
            + elements.map { words(key($0)) } + ghosts.map { "!" + words($0) }
            + (bottom ? ["cells end 0[]", "cells end 1[]"] : [])
    }

    /// Whether a fetch is in progress that has brought no row.
    private func isWaiting(_ edge: ListEdge, _ elements: [Element]) -> Bool {
        guard let fetch = fetches[edge], fetch.answer == nil, data(edge).isLoading else {
            return false
        }
        guard let row = edge == .start ? elements.first : elements.last else { return true }
        guard let last = fetch.last else { return false }
        return edge == .start ? !oracle.precedes(row, last) : !oracle.precedes(last, row)
    }

    /// The items of hidden intents, in the order of their last intents.
    private func hiddenKeys() throws -> [String] {
        var hidden: [(number: IntentNumber, event: Move)] = []
        for intent in store.overlay {
            guard let event = intent.event else { continue }
            if intent.isConfirmOnly || store.conflict(of: intent.number) != nil {
                hidden.append((intent.number, event))
            }
        }
        for number in store.rejections {
            if let event = try store.intent(number).event { hidden.append((number, event)) }
        }
        var keys: [String] = []
        for (_, event) in hidden.sorted(by: { $0.number < $1.number }) {
            let context = EventContext(.intent(IntentID(replica: store.status.replica, number: 1)))
            guard let key = RowBoard.items(of: event, context).first?.id else { continue }
            keys.removeAll { $0 == key }
            keys.append(key)
        }
        return keys
    }
}
