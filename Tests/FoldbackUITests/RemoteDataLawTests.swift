import FoldbackUI
import Testing

/// Question: do the combinations rank the states as U5 says, and do all functions keep the laws
/// that code is moved by? The comment of Elm's `append` ranks the states in another order than its
/// code.
@Suite struct RemoteDataLawTests {
    // MARK: Combinations

    @Test(arguments: [
        // Rows: the left part. Columns: the right part not asked, loading, failure b, success 2.
        (Sample.notAsked, [Sample.notAsked, .loading, .failure("b"), .notAsked]),
        (.loading, [.loading, .loading, .failure("b"), .loading]),
        (.failure("a"), [.failure("a"), .failure("a"), .failure("a"), .failure("a")]),
        (.success(1), [.notAsked, .loading, .failure("b"), .success(12)]),
    ])
    func `U5: all 16 pairs combine by the table`(left: Sample, results: [Sample]) {
        let rights: [Sample] = [.notAsked, .loading, .failure("b"), .success(2)]
        for (right, result) in zip(rights, results) {
            #expect(RemoteData.zip(left, right).map { $0 * 10 + $1 } == result)
            #expect(Sample.map2(left, right) { $0 * 10 + $1 } == result)
            #expect(left.map { first in { first * 10 + $0 } }.andMap(right) == result)
            #expect([left, right].sequenced().map { $0[0] * 10 + $0[1] } == result)
            let byKey = ["left": left, "right": right].sequenced()
            if left.isFailure, right.isFailure {
                #expect(byKey.isFailure)
            } else {
                #expect(byKey.map { $0["left"]! * 10 + $0["right"]! } == result)
            }
        }
    }

    @Test func `U5: a combination of up to five parts is the leftmost failure, or else waits`() {
        for list in (0...5).flatMap(Sample.lists) {
            #expect(list.sequenced() == naiveCombination(list))
            let pairs = list.enumerated().map { ($0.offset, $0.element) }
            let byKey = Dictionary(uniqueKeysWithValues: pairs).sequenced()
            switch naiveCombination(list) {
            case .failure: #expect(byKey.failure.map { list.contains(.failure($0)) } == true)
            case let rest: #expect(byKey.map { $0.sorted { $0 < $1 }.map(\.value) } == rest)
            }
        }
        for list in Sample.lists(count: 3) {
            let (first, second, third) = (list[0], list[1], list[2])
            let naive = naiveCombination(list)
            #expect(RemoteData.zip(first, second, third).map { [$0, $1, $2] } == naive)
            #expect(RemoteData.map3(first, second, third) { [$0, $1, $2] } == naive)
        }
    }

    @Test func `U5: a zip takes parts of any types, and any count`() {
        let name = RemoteData<String, RequestError>.success("a")
        let flag = RemoteData<Bool?, RequestError>.success(nil)
        let four = RemoteData.zip(name, flag, Sample.success(1), name)
        #expect(four.success.map { "\($0)" } == #"("a", nil, 1, "a")"#)
        #expect(RemoteData.zip(name, flag, Sample.loading, name).isLoading)
        #expect(Sample.zip(.success(1)) == .success(1))
        #expect(RemoteData<Void, RequestError>.zip().isSuccess)
    }

    /// Code may not be moved by this "law". Elm has the same exception.
    @Test func `U5: andMap differs from flatMap in three pairs`() {
        var different: [[Sample]] = []
        for pair in Sample.lists(count: 2) {
            let function = pair[0].map { first in { first * 10 + $0 } }
            let argument = pair[1]
            if function.andMap(argument) != function.flatMap({ f in argument.map(f) }) {
                different.append(pair)
            }
        }
        #expect(
            different == [
                [.notAsked, .loading], [.notAsked, .failure("a")], [.notAsked, .failure("b")],
                [.loading, .failure("a")], [.loading, .failure("b")],
            ])
    }

    // MARK: Laws

    @Test func `map is a functor in the value and in the failure`() {
        let (f, g): ((Int) -> Int, (Int) -> String) = ({ $0 + 1 }, { "\($0 * 2)" })
        let named: (RequestError) -> RequestError = { .init(stringLiteral: $0.name + "!") }
        let wrapped: (RequestError) -> Wrapped = { Wrapped(base: $0) }
        for x in Sample.samples {
            #expect(x.map { $0 } == x)
            #expect(x.map(f).map(g) == x.map { g(f($0)) })
            #expect(x.mapError { $0 } == x)
            #expect(x.mapError(named).mapError(wrapped) == x.mapError { wrapped(named($0)) })
            #expect(x.mapBoth(success: g, failure: wrapped) == x.map(g).mapError(wrapped))
            #expect(x.mapBoth(success: g, failure: wrapped) == x.mapError(wrapped).map(g))
        }
    }

    @Test func `andMap is applicative`() {
        typealias Function = (Int) -> Int
        typealias Functions = RemoteData<Function, RequestError>
        let compose: (@escaping Function) -> (@escaping Function) -> Function = { f in
            { g in { f(g($0)) } }
        }
        let apply: (Int) -> (Function) -> Int = { argument in { $0(argument) } }
        let f: Function = { $0 + 5 }
        #expect(Functions(value: f).andMap(Sample(value: 2)) == Sample(value: f(2)))
        for list in Sample.lists(count: 3) {
            let u: Functions = list[0].map { factor in { factor * $0 } }
            let v: Functions = list[1].map { term in { term + $0 } }
            let w = list[2]
            #expect(Functions(value: { $0 }).andMap(w) == w)
            #expect(
                u.andMap(Sample(value: 3))
                    == RemoteData(value: apply(3)).andMap(u))
            let composed: Functions = RemoteData(value: compose).andMap(u).andMap(v)
            #expect(composed.andMap(w) == u.andMap(v.andMap(w)))
            #expect(u.andMap(w) == Sample.map2(u, w) { $0($1) })
        }
    }

    @Test func `flatMap is a monad in the value and in the failure`() {
        // Each function of two values to samples, by its results.
        let functions = Sample.lists(count: 2).map { results in { results[abs($0) % 2] } }
        for f in functions {
            for a in [1, 2] { #expect(Sample(value: a).flatMap(f) == f(a)) }
            for (x, g) in Sample.samples.flatMap({ x in functions.map { (x, $0) } }) {
                #expect(x.flatMap(f).flatMap(g) == x.flatMap { f($0).flatMap(g) })
            }
        }
        for x in Sample.samples {
            #expect(x.flatMap { .success($0) } == x)
            #expect(x.flatMap { .success($0 + 1) } == x.map { $0 + 1 })
            #expect(x.flatMapError { Sample.failure($0) } == x)
            #expect(x.flatMapError { _ in Sample(value: 7) } == (x.isFailure ? .success(7) : x))
        }
    }

    @Test func `map2 is zip and map`() {
        for pair in Sample.lists(count: 2) {
            let f: (Int, Int) -> [Int] = { [$1, $0] }
            #expect(
                RemoteData.map2(pair[0], pair[1], f)
                    == RemoteData.zip(pair[0], pair[1]).map { f($0, $1) })
        }
    }

    @Test func `traverse keeps identity, naturality and order`() {
        let wrapped: (RequestError) -> Wrapped = { Wrapped(base: $0) }
        for states in (0...4).flatMap(Sample.lists) {
            let places = Array(states.indices)
            #expect(places.traverse { Sample(value: $0) } == .success(places))

            var visited: [Int] = []
            let result = places.traverse { place in
                visited.append(place)
                return states[place]
            }
            #expect(visited == places)
            #expect(result == naiveCombination(states))
            #expect(result == states.sequenced())

            // `mapError` and `restored` keep successes and combinations.
            #expect(
                result.mapError(wrapped) == places.traverse { states[$0].mapError(wrapped) })
            #expect(result.restored == places.traverse { states[$0].restored })

            let byKey = Dictionary(uniqueKeysWithValues: places.map { ($0, $0) })
            #expect(byKey.traverse { Sample(value: $0) } == .success(byKey))
            if states.filter(\.isFailure).count < 2 {
                #expect(
                    byKey.traverse { states[$0] }.map { $0.sorted { $0 < $1 }.map(\.value) }
                        == result)
            }
        }
    }

    private struct Wrapped: Error, Equatable {
        let base: RequestError
    }

    /// U5 in words.
    private func naiveCombination(_ list: [Sample]) -> RemoteData<[Int], RequestError> {
        let failures = list.compactMap { state -> RequestError? in
            if case .failure(let error) = state { error } else { nil }
        }
        if let first = failures.first { return .failure(first) }
        if list.contains(.loading) { return .loading }
        if list.contains(.notAsked) { return .notAsked }
        return .success(
            list.compactMap { state in
                if case .success(let value) = state { value } else { nil }
            })
    }
}
