import Foldback
import FoldbackSync
import Foundation
import Synchronization

// A shared shopping list in one file: a projection, an account that syncs its log, a server, and a
// story that runs them. The article "Sync an app" explains it.

// MARK: What happens, and what the screen shows

struct ShoppingList: Projection, Codable {
    enum Event: Codable, Sendable {
        case added(item: String, by: String)
        case bought(item: String, by: String)
    }

    struct NotOnTheList: LocalizedError {
        let item: String
        var errorDescription: String? { "\(item) is not on the list" }
    }

    /// The wanted items, each with its user's name.
    private(set) var items: [String: String] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .added(let item, let user): items[item] = user
        case .bought(let item, _):
            guard items[item] != nil else { throw NotOnTheList(item: item) }
            items[item] = nil
        }
    }
}

// MARK: An account

/// A user's log on this device, in sync with the server.
@MainActor
final class Account {
    let user: String
    private let directory: URL
    private let sync: Sync<ShoppingList>
    private var syncing: Task<Void, any Error>?

    /// The store in use: another one after the server has lost its data.
    var store: Store<ShoppingList> { sync.store }

    /// - Parameter wantsBack: asks the user whether to send this many changes again.
    init(
        _ user: String, at directory: URL, server: ShopClient,
        wantsBack: @escaping @MainActor (Int) async -> Bool
    ) async throws(LogError) {
        self.user = user
        self.directory = directory
        sync = Sync(
            try await Self.open(directory), with: server, policy: .ordered,
            continuing: Continuing(opening: Self.open) { brought in
                await wantsBack(brought.lacking) ? .bring : .discard
            })
    }

    @Sendable private static func open(
        _ directory: URL
    ) async throws(LogError) -> Store<ShoppingList> {
        try await Store.open(
            at: directory, ShoppingList.self, confirmedBy: .downlink, durability: .durable)
    }

    // MARK: Syncing

    /// Begins to send and to fetch. Call it when the account is opened.
    func start() { syncing = Task { [sync] in try await sync.run() } }

    /// Reports a change of the connection.
    func tell(_ change: LinkChange) { sync.tell(change) }

    /// What is not sent yet, and what holds it up, for a banner.
    var status: String { sync.status.message }

    // MARK: Signing out

    /// Ends syncing, and removes the log.
    ///
    /// - Throws: `.pendingIntents` if something was not sent, unless it is discarded. The account is
    ///   closed then, and can be opened again.
    func signOut(discardingPending: Bool) async throws {
        syncing?.cancel()
        try? await syncing?.value
        await store.close()
        try await Store<ShoppingList>.wipe(at: directory, discardingPending: discardingPending)
    }
}

// MARK: The server, and the app's client for it

/// The app's client: requests and answers are JSON. An app sends them with its HTTP library.
struct ShopClient: Authority {
    let server: ShopServer

    func submit(
        _ intents: [Submission<ShoppingList.Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<ShoppingList.Event> {
        let request = SubmitRequest(intents, from: device).json()
        let answer = try await within(.seconds(60)) { try await server.postIntents(request) }
        do {
            return try Verdicts(json: answer, answering: intents.first?.id.replica)
        } catch {
            throw .invalidAnswer(reason: "\(error)")
        }
    }

    func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<ShoppingList.Event> {
        try await changes(after: device, waiting: .zero)
    }

    /// A long poll: the server answers when it has an event, or after `waiting`.
    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<ShoppingList.Event> {
        let answer = try await within(waiting + .seconds(60)) {
            try await server.getChanges(device.json(), waiting: waiting)
        }
        do { return try Changes(json: answer) } catch {
            throw .invalidAnswer(reason: "\(error)")
        }
    }

    /// Cancels a call that has no answer after `limit`.
    private func within(
        _ limit: Duration, _ call: @escaping @Sendable () async throws -> JSON
    ) async throws(AuthorityFailure) -> JSON {
        do {
            return try await withThrowingTaskGroup(of: JSON.self) { group in
                group.addTask { try await call() }
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw AuthorityFailure.unreachable(reason: "no answer after \(limit)")
                }
                defer { group.cancelAll() }
                for try await answer in group { return answer }
                throw CancellationError()
            }
        } catch {
            throw error as? AuthorityFailure ?? .unreachable(reason: "\(error)")
        }
    }
}

/// Stands for a server: it decides with the projection's own code, and can lose its data.
final class ShopServer: Sendable {
    private typealias Data = InProcessAuthority<ShoppingList>
    private let data = Mutex(newData())

    private static func newData() -> Data {
        InProcessAuthority(ShoppingList.self) { intent, _ in
            guard case .added("caviar", _) = intent.event else { return .accept }
            return .reject(Rejection(code: "sold-out", message: "caviar is sold out"))
        }
    }

    /// The server's list.
    var list: ShoppingList { data.withLock { $0 }.state }

    func loseData() { data.withLock { $0 = Self.newData() } }

    /// `POST /intents`: decides on the intents of a request.
    func postIntents(_ body: JSON) async throws(AuthorityFailure) -> JSON {
        let data = data.withLock { $0 }
        return try await answer {
            let request = try SubmitRequest<ShoppingList.Event>(json: body)
            return try await data.submit(request.intents, from: request.device)
                .recorded(by: ShoppingList.codec).json()
        }
    }

    /// `GET /changes`: returns the events that the device does not have.
    func getChanges(_ device: JSON, waiting: Duration) async throws(AuthorityFailure) -> JSON {
        let data = data.withLock { $0 }
        return try await answer {
            try await data.changes(after: try SyncPoint(json: device), waiting: waiting)
                .recorded(by: ShoppingList.codec).json()
        }
    }

    private func answer(
        _ body: () async throws -> JSON
    ) async throws(AuthorityFailure) -> JSON {
        do { return try await body() } catch {
            throw error as? AuthorityFailure ?? .failed(reason: "\(error)")
        }
    }
}

// MARK: A story

@main
struct App {
    /// `shopping-list [DIRECTORY]`: keeps the log of its account in a directory of its own there.
    @MainActor
    static func main() async throws {
        let root = URL(
            filePath: CommandLine.arguments.dropFirst().first ?? ".build/shopping-list",
            directoryHint: .isDirectory)
        try await Store<ShoppingList>.finishWipes(in: root)
        let server = ShopServer()
        let account = try await Account(
            "mia", at: root.appending(path: "account-1"), server: ShopClient(server: server)
        ) { count in
            say("the server lacks", "\(count) of your changes, sending them again")
            return true
        }
        account.start()
        await account.began()

        account.tell(.wentOffline)
        let milk = try await account.store.record(.added(item: "milk", by: account.user))
        say("offline", account.store.view)
        say("status", account.status)
        account.tell(.wentOnline)
        say("milk", try await milk.settlement())

        let caviar = try await account.store.record(.added(item: "caviar", by: account.user))
        say("caviar", try await caviar.settlement())
        let olives = try await account.store.retry(
            caviar.number, with: .added(item: "olives", by: account.user))
        say("olives", try await olives.settlement())

        server.loseData()
        account.tell(.wentOffline)
        try await account.store.record(.added(item: "tea", by: account.user))
        say("the server lost its data, the screen has", account.store.view)
        let old = account.store
        account.tell(.wentOnline)
        try await account.settled(after: old)
        say("the server has", server.list)
        say("the screen has", account.store.view)

        account.tell(.wentOffline)
        try await account.store.record(.bought(item: "tea", by: account.user))
        do { try await account.signOut(discardingPending: false) } catch {
            say("sign out", error.localizedDescription)
        }
        try await account.signOut(discardingPending: true)
        say("left", "\(try FileManager.default.contentsOfDirectory(atPath: root.path).count) logs")
    }

    private static func say(_ what: String, _ list: ShoppingList) {
        say(what, list.items.keys.sorted().joined(separator: ", "))
    }

    private static func say(_ what: String, _ answer: Answer) {
        switch answer.content {
        case .rejected(let rejection): say(what, "rejected, \(rejection.message)")
        default: say(what, "\(answer.content)")
        }
    }

    private static func say(_ what: String, _ text: String) { print("\(what): \(text)") }
}

extension Account {
    /// Waits until syncing has begun. Before that, the status says that it is not running.
    func began() async {
        for await status in sync.statuses where status.obstacle != .paused(.stopped) { return }
    }

    /// Waits until a new log has continued `old`, the user has decided about that, and nothing is
    /// pending.
    func settled(after old: Store<ShoppingList>) async throws {
        for await store in sync.stores where store !== old {
            while try await !LogDirectory(at: directory).keptLogs().isEmpty {
                try await Task.sleep(for: .milliseconds(10))
            }
            for await snapshot in store.views where snapshot.pending.isEmpty { return }
        }
    }
}
