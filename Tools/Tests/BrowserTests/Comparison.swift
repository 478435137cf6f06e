import BrowserDriver
import Foldback
import FoldbackTesting
import Testing

/// Random actions, and the comparison of the page with the server.
///
/// The page is compared at each revision that it reaches, with the model: the state at the start with
/// the edits of all messages since. The model is compared with `/r/mia/state` after each group of
/// actions, at that state's revision.
struct Comparison {
    /// How often each kind of action was carried out.
    private(set) var performed: [String: Int] = [:]
    /// The actions that the server refused, for example because another of the group came first.
    private(set) var refusedCount = 0
    /// The revisions at which the page was compared with the model, and the model with the server.
    private(set) var pageCount = 0, stateCount = 0

    var performedCount: Int { performed.values.reduce(0, +) }

    /// Every kind of action.
    static let kinds: Set = [
        "like", "unlike", "comment", "post", "delete", "follow", "unfollow", "boost", "upload",
        "open", "undo", "redo",
        "retry", "dismiss", "withdraw", "wait", "load", "accept", "reject", "reword", "fraction",
        "friend", "advance", "network", "crash",
    ]

    private static let batch = 25

    /// Carries out actions until `count` of them were accepted.
    mutating func run(
        _ count: Int, in page: FeedPage, _ random: inout SplitMix64
    ) async throws {
        try await page.browser.run(Self.actions + Self.shown + Self.script)
        let wanted = performedCount + count
        while performedCount < wanted {
            let before = performedCount
            let choices: [JSON] = (0..<min(Self.batch, wanted - before)).map { _ in
                let numbers = (0..<2).map { _ in Int64.random(in: 0..<1_000, using: &random) }
                return .array(numbers.map(JSON.integer))
            }
            let result = try await page.browser.wait(
                "compare(arguments[0]).then(done, error => done({ error: error.stack }))",
                .array(choices))
            try #require(result["error"] == nil, "\(result)")
            add(result)
            try #require(performedCount > before, "all were refused: \(result)")
        }
    }

    private mutating func add(_ result: JSON) {
        for (name, count) in result["performed"]?.objectValue?.members ?? [] {
            performed[name.string, default: 0] += Int(count.integerValue ?? 0)
        }
        refusedCount += Int(result["refused"]?.integerValue ?? 0)
        pageCount += Int(result["pages"]?.integerValue ?? 0)
        stateCount += Int(result["states"]?.integerValue ?? 0)
    }
}
