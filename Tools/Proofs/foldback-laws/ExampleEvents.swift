import Foldback
import FoldbackExamples
import FoldbackTesting
import Foundation

/// The generators of the examples' events.
///
/// They use few names, so that events often meet at the same one.
enum ExampleEvents {
    static let documents: Generator<DocumentEvent> = .recursive(
        depthMax: 2,
        .weighted(
            (4, .making({ DocumentEvent.set($0, $1, require: $2) }, keys, values, requires)),
            (2, .making({ DocumentEvent.merge($0, $1, require: $2) }, keys, values, requires)),
            (2, .making({ DocumentEvent.delete($0, require: $1) }, keys, requires)),
            (
                3,
                .making(
                    { DocumentEvent.increment($0, field: $1, by: .integer($2), require: $3) },
                    keys, fields, Generator<Int64>.integers(in: -3 ... .max), requires)
            ))
    ) { inner in
        Generator<[DocumentEvent]>.arrays(of: inner, count: 0...3).map(DocumentEvent.all)
    }

    private static let keys = Generator<ExactString>.oneOf(
        .element(of: ["a", "b", "e\u{301}", "\u{e9}"]),
        Generator<String>.strings().map { ExactString($0) })
    private static let fields = Generator<ExactString>.element(of: ["n", "m"])
    private static let requires = Generator<DocumentEvent.Require?>.element(
        of: [nil, .present, .absent])
    private static let values = Generator<JSON>.oneOf(
        .constant([:]), .constant(["n": 1]), .constant(.null),
        Generator<Int64>.integers().map(JSON.integer), .constant(["n": 1.5, "m": [1, "x"]]),
        Generator<String>.strings().map { .string($0) })

    static let feed = Generator<FeedEvent>.making(
        FeedEvent.init, names,
        .oneOf(
            .making(FeedAction.posted, .strings()), .making(FeedAction.liked, posts),
            .making(FeedAction.commented, posts, .strings()), .making(FeedAction.deleted, posts),
            .making(FeedAction.restored, posts),
            .making(FeedAction.boosted, posts, .optionals(of: .integers(in: 0...9))),
            .making(FeedAction.followed, names), .making(FeedAction.blocked, names),
            .making(FeedAction.unblocked, names)))

    private static let names = Generator<String>.element(of: ["ann", "ben", "cid"])
    /// The ids of the posts that the first intents make.
    private static let posts = Generator<String>.element(of: [
        "me.1.0", "me.2.0", "me.3.0", "other.1.0",
    ])

    static let counters = Generator<Counters.Event>.oneOf(
        .making(Counters.Event.added, letters, .integers()),
        .making(Counters.Event.added, letters, .integers(in: 0...9)),
        .making(Counters.Event.spent, letters, .integers(in: 0...9)),
        .making(Counters.Event.reset, letters))

    private static let letters = Generator<String>.element(of: ["a", "b", "c"])

    static let edits = Generator<[Edit.Patch]>.arrays(
        of: .making(
            Edit.Patch.init, .integers(in: 0...8), .integers(in: 0...3), .strings()),
        count: 1...3
    ).map(Edit.init)

    static let messages = Generator<MessageEvent>.weighted(
        (
            3,
            .making(
                {
                    .sent(
                        Message(
                            id: $0, thread: $1, author: $2, text: $3, sent: $4,
                            replyTo: $0 == $1 ? $1 : nil))
                }, ids, ids, authors, .strings(), dates)
        ),
        (1, .making({ .edited(id: $0, text: $1) }, ids, .strings())),
        (1, .making({ .read(id: $0) }, ids)), (2, .making({ .deleted(id: $0) }, ids)))

    private static let ids = Generator<Int>.integers(in: 1...4).map { number in
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
    }
    private static let authors = Generator<String>.element(of: ["ann", "ben"])
    /// Every second date has half a second.
    private static let dates = Generator<Int>.integers(in: 0...7).map { number in
        Date(timeIntervalSinceReferenceDate: Double(number) / 2)
    }
}
