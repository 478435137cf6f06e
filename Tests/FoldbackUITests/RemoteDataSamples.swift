import FoldbackUI

/// A failure of a request in these tests.
struct RequestError: Error, Hashable, Codable, ExpressibleByStringLiteral {
    let name: String

    init(stringLiteral name: String) { self.name = name }
}

typealias Sample = RemoteData<Int, RequestError>

extension RemoteData<Int, RequestError> {
    /// Each state, with two different failures and values.
    static let samples: [Sample] = [
        .notAsked, .loading, .failure("a"), .failure("b"), .success(1), .success(2),
    ]

    /// All lists of `count` samples.
    static func lists(count: Int) -> [[Sample]] {
        guard count > 0 else { return [[]] }
        return lists(count: count - 1).flatMap { list in samples.map { list + [$0] } }
    }
}
