import FoldbackUI
import Synchronization
import Testing

/// Question: does code that was written for `Result` or for Elm's RemoteData find what it needs,
/// and does the compiler notice each state that a view forgets?
@Suite struct RemoteDataTests {
    private typealias Menu = RemoteData<[String], RequestError>

    // MARK: States

    @Test func `#76: a switch over the four states needs no default`() {
        func name(_ state: Sample) -> String {
            switch state {
            case .notAsked: "not asked"
            case .loading: "loading"
            case .failure(let error): "failure \(error.name)"
            case .success(let value): "success \(value)"
            }
        }
        #expect(
            Sample.samples.map(name) == [
                "not asked", "loading", "failure a", "failure b", "success 1", "success 2",
            ])
        let tests: [(Sample) -> Bool] = [
            { $0.isNotAsked }, { $0.isLoading }, { $0.isFailure }, { $0.isSuccess },
        ]
        for (state, index) in zip(Sample.samples, [0, 1, 2, 2, 3, 3]) {
            #expect(tests.map { $0(state) } == (0..<4).map { $0 == index })
        }
    }

    @Test func `#74: an empty success differs from loading`() {
        #expect(Menu.success([]) != .loading)
        #expect(Menu.success([]).success == [])
        #expect(Menu.loading.success == nil)
        #expect(Set(Sample.samples).count == Sample.samples.count)
    }

    @Test func `#72: the failure can be any error`() async throws {
        let offline = ServerData<Int>.failure(RequestError("offline"))
        #expect(offline.map { $0 + 1 }.failure as? RequestError == "offline")
        #expect(RemoteData.zip(ServerData.success(1), offline).isFailure)
        #expect([ServerData.success(1), .loading].sequenced().isLoading)
        #expect(offline.mapError { _ in RequestError("other") } == .failure("other"))
        #expect(throws: RequestError("offline")) { try offline.get() }
        #expect(ServerData(Result { 3 }).success == 3)
        let caught = await ServerData<Int> { throw RequestError("late") }
        #expect(caught.failure as? RequestError == "late")
    }

    // MARK: Result

    /// The bodies are the same text, of the kind that the seed article has in its tests.
    @Test func `#75: the body of a test of a Result compiles for RemoteData`() throws {
        do {
            typealias Answer = Result
            let sections: Answer<[String], RequestError> = .success(["soup"])
            #expect(try sections.get() == ["soup"])
            #expect(try sections.map(\.count).get() == 1)
            #expect(try sections.flatMap { .success($0.isEmpty) }.get() == false)
            let failed: Answer<[String], RequestError> = .failure("offline")
            #expect(throws: RequestError("offline")) { try failed.get() }
            #expect(failed.mapError { [$0].count > 0 ? RequestError("again") : $0 } != failed)
            guard case .failure(let error) = failed else { throw RequestError("no failure") }
            #expect(error == "offline")
            switch failed {
            case .success(let sections): Issue.record("Expected a failure, got \(sections)")
            case .failure: break
            case _: Issue.record("Expected a failure, got \(failed)")
            }
        }
        do {
            typealias Answer = RemoteData
            let sections: Answer<[String], RequestError> = .success(["soup"])
            #expect(try sections.get() == ["soup"])
            #expect(try sections.map(\.count).get() == 1)
            #expect(try sections.flatMap { .success($0.isEmpty) }.get() == false)
            let failed: Answer<[String], RequestError> = .failure("offline")
            #expect(throws: RequestError("offline")) { try failed.get() }
            #expect(failed.mapError { [$0].count > 0 ? RequestError("again") : $0 } != failed)
            guard case .failure(let error) = failed else { throw RequestError("no failure") }
            #expect(error == "offline")
            switch failed {
            case .success(let sections): Issue.record("Expected a failure, got \(sections)")
            case .failure: break
            case _: Issue.record("Expected a failure, got \(failed)")
            }
        }
    }

    @Test func `#75: data without an answer throw a public error`() {
        #expect(throws: NotReady.notAsked) { try Sample.notAsked.get() }
        #expect(throws: NotReady.loading) { try Sample.loading.get() }
        #expect("\(NotReady.loading)" == "the data are loading")
    }

    @Test func `data convert from and to optionals and results`() {
        #expect(Sample(value: 1) == .success(1))
        #expect(Sample(1, or: "none") == .success(1))
        #expect(Sample(nil, or: "none") == .failure("none"))
        #expect(Sample(.success(1)) == .success(1))
        #expect(Result<Int, RequestError>.failure("a").remoteData == .failure("a"))
        #expect(
            Sample.samples.map { $0.result(or: "early") } == [
                .failure("early"), .failure("early"), .failure("a"), .failure("b"), .success(1),
                .success(2),
            ])
    }

    @Test func `a default is evaluated only for data without a value`() throws {
        var count = 0
        func fallback() -> Int {
            count += 1
            return 9
        }
        #expect(Sample.samples.map { $0.value(or: fallback()) } == [9, 9, 9, 9, 1, 2])
        #expect(
            Sample.samples.map { $0.map(or: fallback()) { -$0 } } == [9, 9, 9, 9, -1, -2])
        #expect(count == 8)
        func noFallback() throws -> Int { throw RequestError("none") }
        #expect(try Sample.success(1).value(or: noFallback()) == 1)
        #expect(throws: RequestError("none")) { try Sample.loading.value(or: noFallback()) }
    }

    @Test func `#80: fold has a closure for each state, or counts not asked as loading`() {
        #expect(
            Sample.samples.map {
                $0.fold(notAsked: { "-" }, loading: { "..." }, failure: \.name) { "\($0)" }
            } == ["-", "...", "a", "b", "1", "2"])
        #expect(
            Sample.samples.map { $0.fold(loading: { "..." }, failure: \.name) { "\($0)" } }
                == ["...", "...", "a", "b", "1", "2"])
    }

    // MARK: Typed throws

    @Test func `every function that takes a closure throws the closure's error`() {
        struct Refused: Error, Equatable {}
        func refuse<A, R>(_: A) throws(Refused) -> R { throw Refused() }
        func refuse<A, B, R>(_: A, _: B) throws(Refused) -> R { throw Refused() }
        func refuse<A, B, C, R>(_: A, _: B, _: C) throws(Refused) -> R { throw Refused() }
        func refuse<R>() throws(Refused) -> R { throw Refused() }
        func change(_: inout Int) throws(Refused) -> Int { throw Refused() }
        func isRefused(_ body: () throws(Refused) -> Void) -> Bool {
            do throws(Refused) {
                try body()
                return false
            } catch {
                return error == Refused()
            }
        }
        // Each function with a typed error compiles in a closure that throws only that error.
        func refusals(_ state: Sample) -> [Bool] {
            [
                isRefused { () throws(Refused) in let _: Sample = try state.map(refuse) },
                isRefused { () throws(Refused) in let _: Sample = try state.mapError(refuse) },
                isRefused { () throws(Refused) in let _: Sample = try state.flatMap(refuse) },
                isRefused { () throws(Refused) in let _: Sample = try state.flatMapError(refuse) },
                isRefused { () throws(Refused) in let _: Int = try state.map(or: 0, refuse) },
                isRefused { () throws(Refused) in
                    let _: Sample = try state.mapBoth(success: refuse, failure: refuse)
                },
                isRefused { () throws(Refused) in let _ = try Sample.map2(state, state, refuse) },
                isRefused { () throws(Refused) in
                    let _: RemoteData<[Int], RequestError> = try [1].traverse(refuse)
                },
                isRefused { () throws(Refused) in
                    let _: Int = try state.fold(loading: refuse, failure: refuse, success: refuse)
                },
                isRefused { () throws(Refused) in
                    let _: Int = try state.fold(
                        notAsked: refuse, loading: refuse, failure: refuse, success: refuse)
                },
                isRefused { () throws(Refused) in
                    let _ = try Sample.map3(state, state, state, refuse)
                },
                isRefused { () throws(Refused) in
                    let function: (Int) throws(Refused) -> Int = refuse
                    let _: Sample = try state.map { _ in function }.andMap(state)
                },
                isRefused { () throws(Refused) in
                    let _: RemoteData<[String: Int], RequestError> = try ["a": 1].traverse(refuse)
                },
                isRefused { () throws(Refused) in
                    var copy = state
                    let _: Int? = try copy.modify(change)
                },
            ]
        }
        #expect(
            refusals(.success(1)) == [
                true, false, true, false, true, true, true, true, true, true, true, true, true,
                true,
            ])
        #expect(
            refusals(.failure("a")) == [
                false, true, false, true, false, true, false, true, true, true, false, false, true,
                false,
            ])
    }

    /// A request with another error than the data's failure does not compile.
    @Test func `a request throws the data's failure, and nothing else`() async {
        struct Refused: Error, Equatable {}
        @Sendable func refuse() async throws(Refused) -> Int { throw Refused() }
        let data = await RemoteData<Int, Refused>(catching: refuse)
        #expect(data == .failure(Refused()))
        var states: [RemoteData<Int, Refused>] = []
        for await state in RemoteData.states(of: { () throws(Refused) in try await refuse() }) {
            states.append(state)
        }
        #expect(states == [.loading, .failure(Refused())])
    }

    // MARK: Changes in place

    @Test func `U6: setting what was read changes nothing`() {
        for state in Sample.samples {
            var copy = state
            copy.success = copy.success
            copy.failure = copy.failure
            #expect(copy == state)
        }
    }

    @Test func `U6: a set value or failure replaces every state, and nil only its own`() {
        for state in Sample.samples {
            var copy = state
            copy.success = 7
            #expect(copy == .success(7))
            copy = state
            copy.failure = "c"
            #expect(copy == .failure("c"))
            copy = state
            copy.success = nil
            #expect(copy == (state.isSuccess ? .notAsked : state))
            copy = state
            copy.failure = nil
            #expect(copy == (state.isFailure ? .notAsked : state))
        }
    }

    @Test func `U6: only loaded values are changed, and without a copy`() throws {
        var menu = Menu.loading
        menu.success?.append("soup")
        #expect(menu == .loading)
        #expect(menu.modify { $0.append("soup") } == nil)

        menu = .success([])
        menu.success?.reserveCapacity(9)
        let place = try #require(address(menu))
        menu.success?.append("soup")
        let count = menu.modify { dishes in
            dishes.append("bread")
            return dishes.count
        }
        #expect(count == 2)
        #expect(menu == .success(["soup", "bread"]))
        #expect(address(menu) == place)
    }

    @Test func `a change that throws remains`() {
        var menu = Menu.success(["soup"])
        #expect(throws: RequestError("sold out")) {
            try menu.modify { dishes in
                dishes.removeAll()
                throw RequestError("sold out")
            }
        }
        #expect(menu == .success([]))
    }

    @Test func `the prism's functions are the case's pattern and constructor`() {
        for state in Sample.samples { #expect(Sample.prism.extract(state) == state.success) }
        #expect(Sample.prism.embed(3) == .success(3))
        #expect(Sample.samples.compactMap(Sample.prism.extract) == [1, 2])
    }

    private func address(_ menu: Menu) -> UnsafeRawPointer? {
        guard case .success(let dishes) = menu else { return nil }
        return dishes.withUnsafeBytes(\.baseAddress)
    }

    // MARK: Requests

    @Test func `a request becomes its answer`() async {
        #expect(await Sample(catching: { () throws(RequestError) in 1 }) == .success(1))
        #expect(
            await Sample(catching: { () throws(RequestError) in throw "a" }) == .failure("a"))
    }

    @MainActor @Test func `a request runs on the caller's actor`() async {
        // This class is not Sendable.
        final class Kitchen { var orders = 0 }
        let kitchen = Kitchen()
        let data = await ServerData<Int> {
            kitchen.orders += 1
            return kitchen.orders
        }
        #expect(data.success == 1)
    }

    @Test func `#77: the states of a request are loading before it begins, then its answer`() async
    {
        let begun = Mutex(0)
        let states = Sample.states { () throws(RequestError) in
            begun.withLock { $0 += 1 }
            throw "a"
        }
        var reader = states.makeAsyncIterator()
        #expect(await reader.next() == .loading)
        #expect(begun.withLock { $0 } == 0)
        #expect(await reader.next() == .failure("a"))
        #expect(begun.withLock { $0 } == 1)
        #expect(await reader.next() == nil)
        #expect(await reader.next() == nil)

        var seen: [Sample] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.loading, .failure("a")])
        #expect(begun.withLock { $0 } == 2)
    }
}
