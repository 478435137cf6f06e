import FoldbackUI
import Testing

/// Question: does each pair of what is known and what the fetch does show what the table of
/// ``FetchState`` says, and can an answer that comes late change anything? A toggle that an old
/// answer had turned back led to these tests.
@Suite struct FetchStateTests {
    private typealias State = FetchState<Int, RequestError>

    private let minute = Duration.seconds(60)

    /// One column of the table.
    private enum Column: CaseIterable {
        case idle, fetching, paused

        func activity(attempt: Int) -> FetchActivity {
            switch self {
            case .idle: .idle
            case .fetching: .fetching(since: at(9), attempt: attempt)
            case .paused: .paused(.offline)
            }
        }
    }

    /// Returns the state with this column's fetch.
    private func state(_ state: State, _ column: Column) -> State {
        var state = state
        switch column {
        case .idle: break
        case .fetching: _ = state.begin(at: at(9))
        case .paused: state.pause(.offline, state.begin(at: at(9)))
        }
        return state
    }

    // MARK: The table

    @Test(arguments: Column.allCases)
    private func `#71: nothing is not asked, or loading`(column: Column) {
        let state = state(State(), column)
        #expect(state.known == .nothing)
        #expect(state.activity == column.activity(attempt: 1))
        #expect(state.data == (column == .idle ? .notAsked : .loading))
        #expect(state.outcome == state.data)
        #expect(state.lastFailure == nil)
        #expect(!state.isRefreshing)
        #expect(state.isStale(at: at(9), after: minute))
    }

    @Test(arguments: Column.allCases)
    private func `#51: a value remains while it is fetched again`(column: Column) {
        let state = state(answered(.success(1)), column)
        #expect(state.known == .value(1, at: at(1)))
        #expect(state.activity == column.activity(attempt: 1))
        #expect(state.data == .success(1))
        #expect(state.outcome == .success(1))
        #expect(state.lastFailure == nil)
        #expect(state.isRefreshing == (column == .fetching))
        #expect(state.isStale(at: at(9), after: minute) == (column == .paused))
    }

    @Test(arguments: Column.allCases)
    private func `#71: a failure without a value is loading while it is fetched again`(
        column: Column
    ) {
        let state = state(answered(.failure("a")), column)
        #expect(state.known == .failure("a", at: at(1), older: nil))
        #expect(state.activity == column.activity(attempt: 2))
        #expect(state.data == (column == .idle ? .failure("a") : .loading))
        #expect(state.outcome == .failure("a"))
        #expect(state.lastFailure == "a")
        #expect(!state.isRefreshing)
        #expect(state.isStale(at: at(9), after: minute))
    }

    @Test(arguments: Column.allCases)
    private func `#71: a failure after a value leaves the value`(column: Column) {
        let state = state(answered(.success(1), .failure("a")), column)
        #expect(state.known == .failure("a", at: at(2), older: 1))
        #expect(state.activity == column.activity(attempt: 2))
        #expect(state.data == .success(1))
        #expect(state.outcome == .failure("a"))
        #expect(state.lastFailure == "a")
        #expect(state.isRefreshing == (column == .fetching))
        #expect(state.isStale(at: at(9), after: minute))
    }

    @Test func `attempts count up until a success, also after failures and cancellations`() {
        var state = answered(.success(1), .failure("a"), .failure("b"))
        #expect(state.known == .failure("b", at: at(3), older: 1))
        _ = state.begin(at: at(4))
        state.cancel()
        _ = state.begin(at: at(5))
        let token = state.begin(at: at(6))
        #expect(state.activity == .fetching(since: at(6), attempt: 5))
        _ = state.succeeded(2, token, at: at(7))
        _ = state.begin(at: at(8))
        #expect(state.activity == .fetching(since: at(8), attempt: 1))
    }

    // MARK: Staleness

    @Test func `a value is stale at exactly its age`() {
        let state = answered(.success(1))
        #expect(!state.isStale(at: at(60), after: minute))
        #expect(state.isStale(at: at(61), after: minute))
    }

    @Test func `an invalidated value is stale until a fetch that began later has succeeded`() {
        var state = answered(.success(1))
        let before = state.begin(at: at(2))
        state.invalidate()
        #expect(state.data == .success(1))
        #expect(state.isStale(at: at(2), after: minute))
        _ = state.succeeded(2, before, at: at(3))
        #expect(state.isStale(at: at(3), after: minute))
        let after = state.begin(at: at(4))
        #expect(state.isStale(at: at(4), after: minute))
        _ = state.succeeded(3, after, at: at(5))
        #expect(!state.isStale(at: at(5), after: minute))
    }

    // MARK: Empty is not unknown

    @Test func `#70: the first state differs from an empty answer`() {
        let first = FetchState<[Int], RequestError>()
        #expect(first.data == .notAsked)
        var asked = first
        let token = asked.begin(at: at(1))
        #expect(asked.data == .loading)
        _ = asked.succeeded([], token, at: at(2))
        #expect(asked.data == .success([]))
    }

    @Test func `U9: a view's data are absent only after a fetch has succeeded`() {
        func shown(_ known: [String]?, _ state: State) -> RemoteData<[String], RequestError> {
            state.data(known: known, absent: [])
        }
        var state = State()
        #expect(shown(nil, state) == .notAsked)
        #expect(shown(["a"], state) == .success(["a"]))
        let first = state.begin(at: at(1))
        #expect(shown(nil, state) == .loading)
        #expect(shown(["a"], state) == .success(["a"]))
        _ = state.failed("offline", first, at: at(2))
        #expect(shown(nil, state) == .failure("offline"))
        #expect(shown(["a"], state) == .success(["a"]))
        let second = state.begin(at: at(3))
        _ = state.succeeded(1, second, at: at(4))
        #expect(shown(nil, state) == .success([]))
        let third = state.begin(at: at(5))
        _ = state.failed("offline", third, at: at(6))
        #expect(shown(nil, state) == .success([]))
    }

    // MARK: Late answers

    @Test func `U8: a canceled or answered fetch changes nothing`() {
        var state = answered(.success(1))
        let canceled = state.begin(at: at(2))
        state.cancel()
        var answered = state
        let token = answered.begin(at: at(3))
        _ = answered.succeeded(2, token, at: at(4))
        for (before, token) in [(state, canceled), (answered, token)] {
            var after = before
            #expect([after.succeeded(9, token, at: at(5)), after == before] == [false, true])
            #expect([after.failed("z", token, at: at(5)), after == before] == [false, true])
            after.pause(.slow, token)
            #expect(after == before)
        }
    }

    @Test func `U8: any order of the answers of three requests ends as the latest alone`() {
        let answers: [Result<Int, RequestError>] = [.success(1), .failure("a")]
        for (first, second) in answers.flatMap({ first in answers.map { (first, $0) } }) {
            for latest in answers {
                let alone = answered(latest)
                for order in [
                    [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
                ] {
                    var state = State()
                    let tokens = (0..<3).map { state.begin(at: at($0)) }
                    for index in order {
                        state.pause(.slow, tokens[index])
                        let answer = [first, second, latest][index]
                        let isTaken = take(&state, answer, tokens[index], at: at(1))
                        #expect(isTaken == (index == 2))
                    }
                    #expect(state.known == alone.known)
                    #expect(state.activity == alone.activity)
                    #expect(state.data == alone.data)
                }
            }
        }
    }

    /// Returns the state after answered fetches: the first answer came at 1 s, the next at 2 s.
    private func answered(_ answers: Result<Int, RequestError>...) -> State {
        var state = State()
        for (index, answer) in answers.enumerated() {
            let token = state.begin(at: at(index))
            _ = take(&state, answer, token, at: at(index + 1))
        }
        return state
    }

    private func take(
        _ state: inout State, _ answer: Result<Int, RequestError>, _ token: FetchToken,
        at now: Moment
    ) -> Bool {
        switch answer {
        case .success(let value): state.succeeded(value, token, at: now)
        case .failure(let error): state.failed(error, token, at: now)
        }
    }
}

private func at(_ seconds: Int) -> Moment {
    Moment(sinceStart: .seconds(seconds))
}

/// Born from a review: a log-out that made a new state let the first user's answer through.
@Suite struct FetchResetTests {
    @Test func `U8: a state that was reset takes no answer of an earlier fetch`() {
        var state = FetchState<Int, NotReady>()
        let old = state.begin(at: .zero)
        state.reset()
        let isLate = state.succeeded(1, old, at: .zero)
        #expect(!isLate)
        #expect(state.data == .notAsked)
        let new = state.begin(at: .zero)
        let isLater = state.succeeded(1, old, at: .zero)
        #expect(!isLater)
        let isTaken = state.succeeded(2, new, at: .zero)
        #expect(isTaken)
        #expect(state.data == .success(2))
    }

    @Test func `U8: a paused fetch goes on`() {
        var state = FetchState<Int, NotReady>()
        let token = state.begin(at: .zero)
        state.pause(.offline, token)
        let now = Moment(sinceStart: .seconds(5))
        state.resume(token, at: now)
        #expect(state.activity == .fetching(since: now, attempt: 1))
        let next = state.begin(at: now)
        state.pause(.offline, next)
        state.resume(token, at: now)
        #expect(state.activity == .paused(.offline))
    }
}
