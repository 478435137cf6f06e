import Foldback
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

struct Notes: Projection, Codable, Equatable {
    enum Event: Codable, Equatable, Sendable {
        /// What a user does.
        case wrote(id: String, text: String)
        /// What the backend has: a page of rows, and the place at which the next page begins.
        case fetched(rows: [Row], cursor: Int)
    }

    struct Row: Codable, Equatable, Sendable {
        let id: String
        let text: String
    }

    private(set) var texts: [String: String] = [:]
    private(set) var cursor = 0

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .wrote(let id, let text): texts[id] = text
        case .fetched(let rows, let cursor):
            for row in rows { texts[row.id] = row.text }
            self.cursor = cursor
        }
    }
}

/// A backend with rows, and without events. Its client numbers the fetches, and a fetch is a position.
actor NotesClient: Authority {
    typealias Event = Notes.Event

    let backend: any NotesBackend
    /// Where the next page begins: the cursor in the log's confirmed state.
    let cursor: @Sendable () -> Int
    /// The last fetch that has begun.
    private var begun: Position = 0
    /// The fetch that must have what was accepted last. Nil after a start: then it is at most the fetch
    /// after the next one.
    private var promised: Position?

    init(_ backend: any NotesBackend, cursor: @escaping @Sendable () -> Int) {
        self.backend = backend
        self.cursor = cursor
    }

    func submit(
        _ intents: [Submission<Notes.Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Notes.Event> {
        var verdicts: [IntentID: Verdict<Notes.Event>] = [:]
        for intent in intents {
            guard case .wrote(let id, let text) = intent.event else { continue }
            // The id of the intent is the idempotency key (A1).
            if let refusal = try await backend.put(text, at: id, key: "\(intent.id)") {
                verdicts[intent.id] = .rejected(Rejection(message: refusal))
            } else {
                // A fetch that has begun may lack the row. The next one has it.
                let next = Position(max(begun, device.through).value + 1)
                promised = max(next, promise(to: device))
                verdicts[intent.id] = .accepted(position: next, replacement: nil)
            }
        }
        return Verdicts(verdicts)
    }

    private func promise(to device: SyncPoint) -> Position {
        let promise = promised ?? Position(device.through.value + 2)
        promised = promise
        return promise
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Notes.Event> {
        let number = Position(device.through.value + 1)
        begun = max(begun, number)
        let promise = promise(to: device)
        let page = try await backend.rows(changedAfter: cursor())
        // An empty page costs an entry in the log, so it comes only if an intent waits for it.
        guard !page.rows.isEmpty || promise > device.through else {
            return Changes(events: [], through: device.through, hasMore: false)
        }
        let event = Notes.Event.fetched(rows: page.rows, cursor: page.cursor)
        return Changes(
            events: [ConfirmedEvent(position: number, event: event)], through: number,
            hasMore: page.hasMore || promise > number)
    }
}

/// Your REST API.
protocol NotesBackend: Sendable {
    /// Writes a row, once for each key. Returns why it is refused; nil if it was written.
    func put(_ text: String, at id: String, key: String) async throws(AuthorityFailure) -> String?
    /// Returns rows in the order of their last change.
    func rows(changedAfter cursor: Int) async throws(AuthorityFailure) -> NotesPage
}

struct NotesPage: Sendable {
    let rows: [Notes.Row]
    let cursor: Int
    let hasMore: Bool
}

/// The backend: a table with a number for each change, and the keys of what was carried out.
private actor Table: NotesBackend {
    private var rows: [String: (text: String, change: Int)] = [:]
    private var answers: [String: String?] = [:]
    private var change = 0
    private(set) var writeCount = 0

    func put(_ text: String, at id: String, key: String) -> String? {
        if let known = answers[key] { return known }
        let refusal = text.isEmpty ? "a note cannot be empty" : nil
        answers[key] = .some(refusal)
        guard refusal == nil else { return refusal }
        change += 1
        writeCount += 1
        rows[id] = (text, change)
        return nil
    }

    func rows(changedAfter cursor: Int) -> NotesPage {
        let later = rows.filter { $0.value.change > cursor }.sorted {
            $0.value.change < $1.value.change
        }
        let page = later.prefix(2)
        return NotesPage(
            rows: page.map { Notes.Row(id: $0.key, text: $0.value.text) },
            cursor: page.last?.value.change ?? cursor, hasMore: later.count > page.count)
    }

    var texts: [String: String] { rows.mapValues(\.text) }
}

/// Question: do the recipes of the article work, and does it show the code that runs?
@Suite struct OwnBackendTests {
    @Test func `devices of a backend that has only rows agree with it`() async throws {
        let seed = testSeed("OwnBackendTests", variable: "BACKEND_SEED")
        for round in 0..<TestEffort.value(quick: 10, full: 200) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let table = Table()
            let stores = (0..<2).map { _ in Store.inMemory(Notes.self, confirmedBy: .downlink) }
            var clients = stores.map { store in NotesClient(table) { store.confirmed.cursor } }
            var writes = 0
            for step in 0..<30 {
                let device = Int.random(in: 0..<2, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let text = random.oneIn(6) ? "" : "\(step)"
                    writes += text.isEmpty ? 0 : 1
                    _ = try await stores[device].record(
                        .wrote(id: "\(Int.random(in: 0..<3, using: &random))", text: text))
                case 1: try await send(stores[device], clients[device], loses: random.oneIn(3))
                case 2:
                    _ = try await Downlink(
                        stores[device], from: clients[device], policy: .ordered
                    ).fetch()
                default:
                    // The process ends, and with it what the client had in memory.
                    clients[device] = NotesClient(table) { stores[device].confirmed.cursor }
                }
            }
            for (store, client) in zip(stores, clients) {
                try await send(store, client, loses: false)
            }
            for (store, client) in zip(stores, clients) {
                _ = try await Downlink(store, from: client, policy: .ordered).fetch()
                let texts = await table.texts
                #expect(
                    store.overlay.isEmpty && store.view.texts == texts, "seed \(seed), \(round)")
                let count = store.status.entryCount
                _ = try await Downlink(store, from: client, policy: .ordered).fetch()
                #expect(store.status.entryCount == count, "an empty fetch was recorded")
            }
            #expect(await table.writeCount == writes)
        }
    }

    private func send(
        _ store: Store<Notes>, _ client: NotesClient, loses: Bool
    ) async throws {
        let calls = FaultOnce(loses)
        let faulty = FaultyAuthority(client) { _ in calls.next() }
        let policy = SyncPolicy(
            intentsPerRequestMax: 8, requestsMax: 1, backoffMin: .milliseconds(1),
            backoffMax: .milliseconds(2), delayMax: .milliseconds(5))
        let outbox = Outbox(store, to: faulty, policy: policy)
        let sending = Task { try await outbox.run() }
        while store.status.pendingCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
        sending.cancel()
        try await sending.value
    }

    /// Loses the first answer.
    private final class FaultOnce: Sendable {
        private let loses: Mutex<Bool>
        init(_ loses: Bool) { self.loses = Mutex(loses) }
        func next() -> FaultyAuthority<Notes.Event>.Fault? {
            loses.withLock { loses in
                defer { loses = false }
                return loses ? .lostAfter : nil
            }
        }
    }

    @Test func `our server keeps the contract`() async throws {
        let space = await Space.inMemory(rules: NotesRules())
        let server = space.authority(for: Account("checker")!)  // your client
        let samples = AuthoritySamples<Notes.Event> { .wrote(id: "\($0)", text: "note \($0)") }
            .refusing { .wrote(id: "\($0)", text: "") }
        let report = await checkAuthority(server, samples: samples)
        #expect(report.isClean, "\(report)")
    }

    struct NotesRules: Rules {
        func decide(
            _ intent: Submission<Notes.Event>, by account: Account, on notes: Notes,
            at time: Timestamp
        ) -> Ruling<Notes.Event> {
            guard case .wrote(_, let text) = intent.event, !text.isEmpty else {
                return .reject(Rejection(code: "empty", message: "A note cannot be empty."))
            }
            return .accept
        }

        func access(of account: Account, to space: SpaceName) async -> Bool { true }
    }

    @Test func `the front page opens a space`() async throws {
        let folder = TemporaryDirectory()
        let (directory, ann) = (folder.url, Account.ann)
        let space = try await Space.open(at: directory, rules: NotesRules())
        let authority = space.authority(for: ann)  // an Authority, for an Outbox and a Downlink
        #expect(try await authority.changes(after: 0).through == 1)
        await space.close()
    }

    @Test(arguments: [
        ("YourOwnBackend", 5, "Tests/FoldbackServerTests"),
        ("FoldbackServer", 2, "Tests/FoldbackServerTests"),
        ("WhyDidTheServerSayNo", 1, "Tools/Examples/feed-decisions"),
    ])
    func `an article shows the code that runs`(
        article: String, count: Int, place: String
    ) throws {
        let code = try ArticleCode(of: "Sources/FoldbackServer/FoldbackServer.docc/\(article).md")
        #expect(code.blocks.count == count)
        #expect(try code.missing(in: place) == [])
    }
}
