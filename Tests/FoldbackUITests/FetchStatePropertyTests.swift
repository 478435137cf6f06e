import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Question: is a fetch's state what its history says, in whatever order fetches begin, answer,
/// pause and end?
///
/// The model keeps the history only, and computes each property from all of it.
@Suite struct FetchStatePropertyTests {
    @Test func `U8: after random steps, the state is what the history says`() async throws {
        var pairs: Set<String> = []
        try await expectNone("fetch states", of: TestEffort.value(quick: 2_000, full: 8_000)) {
            let play = FetchPlay(try FetchStep.lists.generate(from: &$0))
            pairs.formUnion(play.pairs)
            return play.finding
        }
        let knowns = ["nothing", "value", "failure", "failure, older"]
        let activities = ["idle", "fetching", "paused"]
        #expect(pairs == Set(knowns.flatMap { known in activities.map { "\(known) x \($0)" } }))
    }

    /// The answers of superseded requests may as well have been lost.
    @Test func `U8: the state is the same without the reports of superseded requests`()
        async throws
    {
        try await expectNone("lost reports", of: TestEffort.value(quick: 1_000, full: 8_000)) {
            let steps = try FetchStep.lists.generate(from: &$0)
            var (state, lossy) = (FetchPlay.State(), FetchPlay.State())
            var (tokens, lossyTokens): ([FetchToken], [FetchToken]) = ([], [])
            for (place, step) in steps.enumerated() {
                let now = Moment(sinceStart: .seconds(place))
                _ = step.perform(on: &state, &tokens, at: now)
                let report = step.request(of: tokens.count)
                if report == nil || report == tokens.count - 1 {
                    _ = step.perform(on: &lossy, &lossyTokens, at: now)
                }
            }
            guard state != lossy else { return nil }
            return Finding(property: "state", text: "\(state)\ninstead of \(lossy)\n\(steps)")
        }
    }

    /// Expects that `check` finds nothing for `count` seeds. Reports the simplest choices of a
    /// finding.
    private func expectNone(
        _ name: String, of count: UInt64, _ check: @escaping (inout Choices) throws -> Finding?
    ) async throws {
        let first = testSeed(name, variable: "FETCH_SEED")
        for seed in first..<first + count {
            var choices = Choices(seed: seed)
            guard let finding = try check(&choices) else { continue }
            let result = await Shrinker(candidatesMax: 5_000).shrink(
                choices.recording, failing: finding.property
            ) { choices in
                guard let found = try? check(&choices) else { return .passes }
                return .fails(found.property)
            }
            var least = Choices(replaying: result.smallest.values)
            Issue.record("seed \(seed): \(try check(&least)?.text ?? finding.text)")
            return
        }
    }
}

/// A difference between a state and its model.
private struct Finding {
    let property: String
    let text: String
}

/// Something that happens to a fetch. Requests are counted back from the newest.
private enum FetchStep: Sendable, CustomStringConvertible {
    case begin
    case succeeded(Int, request: Int)
    case failed(RequestError, request: Int)
    case pause(WaitCause, request: Int)
    case cancel
    case invalidate

    static let lists = Generator<[FetchStep]>.arrays(of: steps, count: 0...30)

    private static let steps: Generator<FetchStep> = .weighted(
        (5, .constant(.begin)),
        (3, .making({ .succeeded($0, request: $1) }, .integers(in: 0...9), .integers(in: 0...3))),
        (
            3,
            .making(
                { .failed($0, request: $1) }, .element(of: [RequestError("a"), RequestError("b")]),
                .integers(in: 0...3))
        ),
        (
            2,
            .making(
                { .pause($0, request: $1) }, .element(of: [.offline, .slow]), .integers(in: 0...3))
        ),
        (1, .constant(.cancel)), (1, .constant(.invalidate)))

    var description: String {
        switch self {
        case .begin: "begin"
        case .succeeded(let value, let request): "succeeded(\(value), -\(request))"
        case .failed(let error, let request): "failed(\(error.name), -\(request))"
        case .pause(let cause, let request): "pause(\(cause), -\(request))"
        case .cancel: "cancel"
        case .invalidate: "invalidate"
        }
    }

    /// The index of the request that reports, of `count` requests; nil if none does.
    func request(of count: Int) -> Int? {
        switch self {
        case .begin, .cancel, .invalidate: nil
        case .succeeded(_, let back), .failed(_, let back), .pause(_, let back):
            back < count ? count - 1 - back : nil
        }
    }

    /// Returns the result of the call; nil if it has none.
    func perform(
        on state: inout FetchPlay.State, _ tokens: inout [FetchToken], at now: Moment
    ) -> Bool? {
        switch self {
        case .begin: tokens.append(state.begin(at: now))
        case .cancel: state.cancel()
        case .invalidate: state.invalidate()
        case .succeeded(let value, _):
            if let request = request(of: tokens.count) {
                return state.succeeded(value, tokens[request], at: now)
            }
        case .failed(let error, _):
            if let request = request(of: tokens.count) {
                return state.failed(error, tokens[request], at: now)
            }
        case .pause(let cause, _):
            if let request = request(of: tokens.count) { state.pause(cause, tokens[request]) }
        }
        return nil
    }
}

/// A state and its history, compared after each step.
private struct FetchPlay {
    typealias State = FetchState<Int, RequestError>

    private(set) var finding: Finding?
    private var story = ""
    /// The pairs of the table that were reached.
    private(set) var pairs: Set<String> = []

    init(_ steps: [FetchStep]) {
        var state = State()
        var history = FetchHistory()
        var tokens: [FetchToken] = []
        for (place, step) in steps.enumerated() {
            let now = Moment(sinceStart: .seconds(place))
            let result = step.perform(on: &state, &tokens, at: now)
            story += "\(place): \(step) \(result.map { "-> \($0)" } ?? "")\n"
            history.steps.append(step)
            pairs.insert(pair(state))
            compare("result", result, history.lastResult)
            compare("known", state.known, history.known)
            compare("activity", state.activity, history.activity)
            compare("data", state.data, history.data)
            compare("outcome", state.outcome, history.outcome)
            compare("isRefreshing", state.isRefreshing, history.isRefreshing)
            compare("lastFailure", state.lastFailure, history.lastFailure)
            compare(
                "isStale", state.isStale(at: now, after: .seconds(5)),
                history.isStale(after: .seconds(5)))
        }
    }

    private mutating func compare<V: Equatable>(_ property: String, _ value: V, _ model: V) {
        guard finding == nil, value != model else { return }
        finding = Finding(
            property: property, text: "\(property) is \(value) instead of \(model)\n\(story)")
    }

    private func pair(_ state: State) -> String {
        let known =
            switch state.known {
            case .nothing: "nothing"
            case .value: "value"
            case .failure(_, at: _, older: nil): "failure"
            case .failure(_, at: _, older: _?): "failure, older"
            }
        let activity =
            switch state.activity {
            case .idle: "idle"
            case .fetching: "fetching"
            case .paused: "paused"
            }
        return "\(known) x \(activity)"
    }
}

/// All steps so far. Step n happened at n seconds.
private struct FetchHistory {
    var steps: [FetchStep] = []

    private struct Request {
        let begun: Int
        /// The steps from its beginning to that of the next request.
        let life: Range<Int>
        let index: Int
    }

    private var requests: [Request] {
        let places = steps.indices.filter { if case .begin = steps[$0] { true } else { false } }
        return places.enumerated().map { index, place in
            let end = index + 1 < places.count ? places[index + 1] : steps.count
            return Request(begun: place, life: place..<end, index: index)
        }
    }

    /// The index of the request that reports in a step; nil if none does.
    private func reporter(_ place: Int) -> Int? {
        steps[place].request(of: requests.filter { $0.begun < place }.count)
    }

    /// The step that ended a request: its first answer or a cancellation, in its life.
    private func end(of request: Request) -> Int? {
        request.life.first { place in
            switch steps[place] {
            case .cancel: true
            case .succeeded, .failed: reporter(place) == request.index
            case .begin, .pause, .invalidate: false
            }
        }
    }

    /// The answers that changed something, with their requests.
    private var answers: [(request: Request, place: Int)] {
        requests.compactMap { request in
            guard let place = end(of: request) else { return nil }
            if case .cancel = steps[place] { return nil }
            return (request, place)
        }
    }

    private var successes: [(request: Request, place: Int, value: Int)] {
        answers.compactMap { request, place in
            if case .succeeded(let value, _) = steps[place] { (request, place, value) } else { nil }
        }
    }

    var lastResult: Bool? {
        let last = steps.count - 1
        switch steps[last] {
        case .begin, .cancel, .invalidate, .pause: return nil
        case .succeeded, .failed:
            return reporter(last) == nil ? nil : answers.contains { $0.place == last }
        }
    }

    var known: FetchPlay.State.Known {
        guard let last = answers.last else { return .nothing }
        let moment = Moment(sinceStart: .seconds(last.place))
        guard case .failed(let error, _) = steps[last.place] else {
            return .value(successes.last!.value, at: moment)
        }
        return .failure(error, at: moment, older: successes.last?.value)
    }

    var activity: FetchActivity {
        guard let last = requests.last, end(of: last) == nil else { return .idle }
        for place in last.life.reversed() {
            if case .pause(let cause, _) = steps[place], reporter(place) == last.index {
                return .paused(cause)
            }
        }
        let success = successes.last?.place ?? -1
        return .fetching(
            since: Moment(sinceStart: .seconds(last.begun)),
            attempt: requests.filter { $0.begun > success }.count)
    }

    /// The table at ``FetchState``.
    var data: RemoteData<Int, RequestError> {
        switch (known, activity) {
        case (.nothing, .idle): .notAsked
        case (.nothing, _): .loading
        case (.value(let value, _), _): .success(value)
        case (.failure(let error, _, nil), .idle): .failure(error)
        case (.failure(_, _, nil), _): .loading
        case (.failure(_, _, let older?), _): .success(older)
        }
    }

    var outcome: RemoteData<Int, RequestError> {
        switch known {
        case .nothing: data
        case .value(let value, _): .success(value)
        case .failure(let error, _, _): .failure(error)
        }
    }

    var isRefreshing: Bool {
        guard case .fetching = activity else { return false }
        return !successes.isEmpty
    }

    var lastFailure: RequestError? {
        if case .failure(let error, _, _) = known { error } else { nil }
    }

    func isStale(after age: Duration) -> Bool {
        guard let last = answers.last, let success = successes.last, success.place == last.place
        else { return true }
        if case .paused = activity { return true }
        let invalidated = steps.lastIndex { if case .invalidate = $0 { true } else { false } }
        if let invalidated, invalidated > success.request.begun { return true }
        return .seconds(steps.count - 1 - success.place) >= age
    }
}
