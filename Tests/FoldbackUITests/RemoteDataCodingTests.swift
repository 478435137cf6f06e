import FoldbackUI
import Foundation
import Testing

/// Question: does remote data survive encoding exactly, and does a spinner saved on a disk not spin
/// for ever after a restart?
@Suite struct RemoteDataCodingTests {
    @Test(arguments: [
        (Sample.notAsked, #"{"state":"notAsked"}"#),
        (.loading, #"{"state":"loading"}"#),
        (.failure("a"), #"{"failure":{"name":"a"},"state":"failure"}"#),
        (.success(1), #"{"state":"success","value":1}"#),
    ])
    func `U7: each state has an exact encoding`(state: Sample, text: String) throws {
        #expect(try encoded(state) == text)
        #expect(try decoded(text) == state)
    }

    @Test func `U7: a success of nil or of nothing is a success`() throws {
        typealias OptionalData = RemoteData<Int?, RequestError>
        let text = try encoded(OptionalData.success(nil))
        #expect(text == #"{"state":"success","value":null}"#)
        #expect(try decoded(text, as: OptionalData.self) == .success(nil))
        let empty = try encoded(RemoteData<[Int], RequestError>.success([]))
        #expect(try decoded(empty, as: RemoteData<[Int], RequestError>.self) == .success([]))
    }

    @Test(arguments: [
        #"{"state":"refreshing"}"#, #"{"state":"Loading"}"#, #"{"state":"success"}"#,
        #"{"state":"failure","value":1}"#, #"{"state":"success","value":"1"}"#, #"{"value":1}"#,
        #""loading""#,
    ])
    func `U7: an unknown or incomplete state is an error`(text: String) {
        #expect(throws: DecodingError.self) { try decoded(text) as Sample }
    }

    @Test func `U7: restored data are never loading, and keep every other state`() {
        for state in Sample.samples {
            #expect(state.restored == (state == .loading ? .notAsked : state))
        }
    }

    // MARK: FetchState

    @Test(arguments: [
        ([], #"{"outcome":{"state":"notAsked"}}"#),
        (["begin"], #"{"outcome":{"state":"notAsked"}}"#),
        (["begin", "1"], #"{"outcome":{"state":"success","value":1}}"#),
        (["begin", "1", "begin"], #"{"outcome":{"state":"success","value":1}}"#),
        (
            ["begin", "a", "begin"],
            #"{"outcome":{"failure":{"name":"a"},"state":"failure"}}"#
        ),
        (
            ["begin", "1", "begin", "a"],
            #"{"older":1,"outcome":{"failure":{"name":"a"},"state":"failure"}}"#
        ),
    ])
    func `U7: a fetch's state encodes what is known`(steps: [String], text: String) throws {
        let state = fetched(steps)
        #expect(try encoded(state) == text)
        let restored = try decoded(text, as: FetchState<Int, RequestError>.self)
        #expect(restored.data.success == state.data.success)
        #expect(restored.lastFailure == state.lastFailure)
        #expect(restored.activity == .idle)
        #expect(try encoded(restored) == text)
    }

    @Test func `U7: a decoded fetch is idle, and stale until a fetch has succeeded`() throws {
        let loading = #"{"outcome":{"state":"loading"}}"#
        #expect(
            try decoded(loading, as: FetchState<Int, RequestError>.self).data == .notAsked)

        let saved = try encoded(fetched(["begin", "1"]))
        var state = try decoded(saved, as: FetchState<Int, RequestError>.self)
        #expect(state.known == .value(1, at: .zero))
        #expect(state.isStale(at: .zero, after: .seconds(60)))
        let token = state.begin(at: .zero)
        #expect(state.activity == .fetching(since: .zero, attempt: 1))
        _ = state.succeeded(2, token, at: .zero)
        #expect(!state.isStale(at: .zero, after: .seconds(60)))
    }

    @Test func `U7: an older value that is nil itself is decoded`() throws {
        typealias OptionalState = FetchState<Int?, RequestError>
        var state = OptionalState()
        let first = state.begin(at: .zero)
        _ = state.succeeded(nil, first, at: .zero)
        let second = state.begin(at: .zero)
        _ = state.failed("a", second, at: .zero)
        let restored = try decoded(encoded(state), as: OptionalState.self)
        #expect(restored.known == .failure("a", at: .zero, older: .some(nil)))
        #expect(restored.data == .success(nil))
    }

    /// "begin" begins a fetch; a number is its value, and another text its failure.
    private func fetched(_ steps: [String]) -> FetchState<Int, RequestError> {
        var state = FetchState<Int, RequestError>()
        var token = state.begin(at: .zero)
        state = FetchState()
        for (index, step) in steps.enumerated() {
            let now = Moment(sinceStart: .seconds(index + 1))
            if step == "begin" {
                token = state.begin(at: now)
            } else if let value = Int(step) {
                _ = state.succeeded(value, token, at: now)
            } else {
                _ = state.failed(RequestError(stringLiteral: step), token, at: now)
            }
        }
        return state
    }
}

private func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

private func decoded<V: Decodable>(_ text: String, as type: V.Type = V.self) throws -> V {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}
