import FoldbackUI
import Foundation
import Testing

/// Question: does each function that people know from Elm's package exist, and does the article
/// that lists them leave out none?
@Suite struct ElmParityTests {
    /// The names whose counterparts were used.
    private final class Used { var names: [String] = [] }

    private let used = Used()

    private func expect(
        _ name: String, _ holds: Bool, _ location: SourceLocation = #_sourceLocation
    ) {
        used.names.append(name)
        #expect(holds, "\(name)", sourceLocation: location)
    }

    @Test func `each function and type of Elm's RemoteData has a counterpart`() async throws {
        useTypesAndTests()
        useMappings()
        useCombinations()
        useConversions()
        await useRequests()
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/FoldbackUI/FoldbackUI.docc/FromElm.md")
        let rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
        let names = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) }
        }
        #expect(names.count == 27)
        #expect(names.sorted() == used.names.sorted())
    }

    private func useTypesAndTests() {
        let states: [Sample] = [.notAsked, .loading, .failure("a"), .success(1)]
        expect("RemoteData", Set(states).count == 4)
        expect("WebData", ServerData<Int>.failure(RequestError("a")).isFailure)
        expect("isNotAsked", states.map(\.isNotAsked) == [true, false, false, false])
        expect("isLoading", states.map(\.isLoading) == [false, true, false, false])
        expect("isFailure", states.map(\.isFailure) == [false, false, true, false])
        expect("isSuccess", states.map(\.isSuccess) == [false, false, false, true])
    }

    private func useMappings() {
        expect("map", Sample.success(1).map { $0 + 1 } == .success(2))
        expect("mapError", Sample.failure("a").mapError { _ in RequestError("b") } == .failure("b"))
        let both = Sample.success(1).mapBoth(success: { -$0 }, failure: { $0 })
        expect("mapBoth", both == .success(-1))
        let next = Sample.success(1).flatMap { Sample.success($0 + 1) }
        expect("andThen", next == .success(2))
        expect("withDefault", Sample.loading.value(or: 7) == 7)
        expect("unwrap", Sample.success(1).map(or: "-") { "\($0)" } == "1")
        func never() -> String { preconditionFailure("a default of loaded data is not evaluated") }
        expect("unpack", Sample.success(1).map(or: never()) { "\($0)" } == "1")
        var counter = Sample.success(1)
        let command = counter.modify { value in
            value += 1
            return "saved \(value)"
        }
        expect("update", counter == .success(2) && command == "saved 2")
        expect("prism", Sample.prism.extract(Sample.prism.embed(1)) == 1)
    }

    private func useCombinations() {
        let (one, two) = (Sample.success(1), Sample.success(2))
        expect("map2", Sample.map2(one, two) { $0 + $1 } == .success(3))
        expect("map3", Sample.map3(one, two, two) { $0 + $1 + $2 } == .success(5))
        expect("andMap", one.map { first in { first - $0 } }.andMap(two) == Sample.success(-1))
        let pair = RemoteData.zip(one, two).map { "\($0) \($1)" }
        expect("append", pair == .success("1 2"))
        expect("fromList", [one, two].sequenced() == .success([1, 2]))
    }

    private func useConversions() {
        expect("succeed", Sample(value: 1) == .success(1))
        expect("fromMaybe", Sample(nil, or: "none") == .failure("none"))
        expect("toMaybe", Sample.success(1).success == 1 && Sample.loading.success == nil)
        expect("fromResult", Sample(Result.success(1)) == .success(1))
        expect("toResult", Sample.loading.result(or: "early") == .failure("early"))
    }

    private func useRequests() async {
        let fetch: @Sendable () async throws(RequestError) -> Int = { () throws(RequestError) in 1 }
        expect("fromTask", await Sample(catching: fetch) == .success(1))
        var states: [Sample] = []
        for await state in Sample.states(of: fetch) { states.append(state) }
        expect("asCmd", states == [.loading, .success(1)])
    }
}
