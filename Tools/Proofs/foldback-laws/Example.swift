import Foldback
import FoldbackExamples
import FoldbackTesting

/// A projection that every law is checked on.
///
/// To add one, put the projection into FoldbackExamples, its generator into `ExampleEvents`, and
/// one line into ``all``.
struct Example: Sendable {
    static let all = [
        Example(
            "documents", Documents.self, events: ExampleEvents.documents,
            itemIDs: ItemIDs { $0.byKey.keys }),
        Example(
            "feed", Feed.self, events: ExampleEvents.feed,
            itemIDs: ItemIDs { $0.posts.keys + $0.posts.values.flatMap { $0.comments.map(\.id) } }),
        Example("counters", Counters.self, events: ExampleEvents.counters, except: [.p13]),
        Example("text", Text.self, events: ExampleEvents.edits, except: [.p9, .p13]),
        Example(
            "messages", rows: Conversations.self, events: ExampleEvents.messages,
            rowIDs: ItemIDs(keysOf: Conversations.messages)),
    ]

    /// The name on the command line.
    let name: String
    /// The laws that are about this projection. Counters and a text have no items, for P13. A text has
    /// no keys either, for P9.
    let laws: Set<Law>
    /// Checks the laws; the same seed makes the same histories.
    let report: @Sendable (Set<Law>, Effort, _ seed: UInt64?) async -> LawReport

    init<P: Projection>(
        _ name: String, _ projection: P.Type, events: Generator<P.Event>,
        itemIDs: ItemIDs<P>? = nil, except laws: Set<Law> = []
    ) {
        self.name = name
        self.laws = Set<Law>.standard.subtracting(laws)
        report = { laws, effort, seed in
            await checkLaws(
                of: projection, events: events, itemIDs: itemIDs, laws: laws, effort: effort,
                seed: seed, failures: .forgotten)
        }
    }

    init<P: StoredProjection>(
        _ name: String, rows projection: P.Type, events: Generator<P.Event>,
        rowIDs: ItemIDs<RowsInMemory<P>>? = nil
    ) {
        self.name = name
        laws = .standard
        report = { laws, effort, seed in
            await checkLaws(
                of: projection, events: events, rowIDs: rowIDs, laws: laws, effort: effort,
                seed: seed, failures: .forgotten)
        }
    }
}
