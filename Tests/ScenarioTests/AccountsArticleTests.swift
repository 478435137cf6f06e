import Foldback
import FoldbackHistory
import FoldbackSync
import Foundation
import TestSupport
import Testing

// Article Accounts, the user begins
struct Channel: Projection, Codable {
    enum Event: Codable, Sendable {
        case posted(id: Int, text: String, by: String)
        case read(id: Int, by: String)
    }

    struct Message: Codable, Sendable {
        var text: String
        var author: String
        var readers: Set<String>
    }

    private(set) var messages: [Int: Message] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .posted(let id, let text, let user):
            messages[id] = Message(text: text, author: user, readers: [user])
        case .read(let id, let user): messages[id]?.readers.insert(user)
        }
    }

    func unreadCount(of user: String) -> Int {
        messages.values.count { !$0.readers.contains(user) }
    }
}
// Article Accounts, the user ends

// Article Accounts, the account begins
struct Account {
    let user: String  // the server's id of the user
    let directory: URL
    let store: Store<Channel>

    init(_ user: String, at directory: URL) async throws(LogError) {
        self.user = user
        self.directory = directory
        store = try await Store.open(
            at: directory, Channel.self, confirmedBy: .downlink, durability: .durable)
    }

    func post(_ text: String, id: Int) async throws(CommandError) {
        try await store.record(.posted(id: id, text: text, by: user))
    }

    var unreadCount: Int { store.view.unreadCount(of: user) }
}
// Article Accounts, the account ends

// Article Accounts, signing in begins
/// A user's likes, as the server sends them to a new device.
struct LikesPage: Sendable {
    let likes: Likes
    let through: Position
    let lineage: Lineage
}

/// Opens the log of an account, and brings what the user did before there was an account. Call it again
/// if it was cut off: nothing is lost, and nothing is recorded twice.
func signIn(
    account: URL, local: URL, fetching page: () async throws -> LikesPage
) async throws -> Store<Likes> {
    if !FileManager.default.fileExists(atPath: account.path) {
        let page = try await page()
        try await Store<Likes>.begin(
            at: account, from: [.value(page.likes)], through: page.through, of: page.lineage)
    }
    let store = try await Store.open(
        at: account, Likes.self, confirmedBy: .downlink, durability: .durable)
    if FileManager.default.fileExists(atPath: local.path) {
        let work = try await Store.open(
            at: local, Likes.self, confirmedBy: .downlink, durability: .durable)
        try await store.bring(.pending, from: work)
        await work.close()
        try await Store<Likes>.wipe(at: local, discardingPending: true)
    }
    return store
}
// Article Accounts, signing in ends

// Article Accounts, signing out begins
extension Account {
    /// Call this when the outbox and the downlink have ended.
    func signOut(discardingPending: Bool) async throws(LogError) {
        await store.close()
        try await Store<Channel>.wipe(at: directory, discardingPending: discardingPending)
    }
}
// Article Accounts, signing out ends

// Article Accounts, backups begins
extension Account {
    /// Call this at any time, for example once a day.
    func backUp(to copy: URL) async throws(LogError) {
        try await store.backup(to: copy)
    }
}

/// What a widget shows. It runs in a process of its own, and reads the copy that the app wrote.
func widgetText(of user: String, from copy: URL) throws(LogError) -> String {
    let reader = try LogReader(at: copy)
    defer { reader.close() }
    let last = try reader.status().sequence
    let channel = try reader.snapshot(of: Channel.self, at: last).view
    return "\(channel.unreadCount(of: user)) unread"
}
// Article Accounts, backups ends

/// Proves that the code of the article on accounts compiles, does what the article says, and is the same text.
@Suite struct AccountsArticleTests {
    private let directory = TemporaryDirectory()

    private func account(_ user: String, at name: String) async throws -> Account {
        try await Account(
            user, at: directory.url.appending(path: name, directoryHint: .isDirectory))
    }

    @Test func `F12: two users read the same state, and each finds what concerns them`()
        async throws
    {
        let (ada, bob) = (
            try await account("ada", at: "7f31"), try await account("bob", at: "c05e")
        )
        try await ada.post("hello", id: 1)
        #expect(ada.unreadCount == 0)
        let events = [
            ConfirmedEvent(
                position: 1, event: Channel.Event.posted(id: 1, text: "hello", by: "ada")),
            ConfirmedEvent(position: 2, event: .posted(id: 2, text: "hi", by: "bob")),
            ConfirmedEvent(position: 3, event: .read(id: 2, by: "ada")),
        ]
        for account in [ada, bob] { try await account.store.confirm(events, through: 3) }
        #expect(ada.unreadCount == 0)
        #expect(bob.unreadCount == 1)
        #expect(bob.store.view.unreadCount(of: "carl") == 2)
        try await bob.signOut(discardingPending: false)
        await ada.store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["7f31"])
    }

    @Test func `N6: what a user did without an account becomes the account's first intents`()
        async throws
    {
        func url(_ name: String) -> URL {
            directory.url.appending(path: name, directoryHint: .isDirectory)
        }
        let guest = try await Store.open(
            at: url("local"), Likes.self, confirmedBy: .downlink, durability: .relaxed)
        for post in ["a", "b"] { try await guest.record(.liked(post: post)) }
        await guest.close()
        let server = InProcessAuthority(Likes.self)
        let other = Store.inMemory(Likes.self, confirmedBy: .downlink)
        for post in ["b", "c"] { try await other.record(.liked(post: post)) }
        try await other.sync(with: server)
        let page = LikesPage(
            likes: other.confirmed, through: other.syncPoint.through, lineage: server.lineage)

        var store = try await signIn(account: url("7f31"), local: url("local")) { page }
        #expect(store.view.counts == ["a": 1, "b": 2, "c": 1])
        #expect(store.status.pendingCount == 2)
        #expect(!FileManager.default.fileExists(atPath: url("local").path))
        try await store.sync(with: server)
        #expect(store.confirmed.counts == ["a": 1, "b": 2, "c": 1])
        await store.close()
        store = try await signIn(account: url("7f31"), local: url("local")) { page }
        #expect(store.view.counts == ["a": 1, "b": 2, "c": 1] && store.overlay.isEmpty)
        await store.close()
    }

    @Test func `BK7: signing out with a pending intent needs the user's word`() async throws {
        let ada = try await account("ada", at: "7f31")
        try await ada.post("hello", id: 1)
        let refused = await error { () throws(LogError) in
            try await ada.signOut(discardingPending: false)
        }
        guard case .pendingIntents(_, count: 1, held: 0) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let again = try await account("ada", at: "7f31")
        #expect(again.store.status.pendingCount == 1)
        try await again.signOut(discardingPending: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }

    @Test func `BK1, BK2: a widget reads a backup, and a new device goes on from it`() async throws
    {
        let ada = try await account("ada", at: "7f31")
        try await ada.post("hello", id: 1)
        let copy = directory.url.appending(path: "copy", directoryHint: .isDirectory)
        try await ada.backUp(to: copy)
        #expect(try widgetText(of: "ada", from: copy) == "0 unread")
        let event = Channel.Event.posted(id: 2, text: "hi", by: "bob")
        try await ada.store.confirm([ConfirmedEvent(position: 1, event: event)], through: 1)
        try await ada.backUp(to: copy)
        #expect(try widgetText(of: "ada", from: copy) == "1 unread")
        await ada.store.close()
        // The new device has nothing but the copy.
        let device = directory.url.appending(path: "device", directoryHint: .isDirectory)
        try FileManager.default.moveItem(at: copy, to: device)
        let restored = try await account("ada", at: "device")
        #expect(restored.store.status.replica != ada.store.status.replica)
        let intent = try #require(restored.store.overlay.first)
        #expect(intent.id.replica == ada.store.status.replica)
        await #expect(throws: CommandError.self) {
            try await restored.store.withdraw(intent.number)
        }
        try await restored.store.abandon(intent.number)
        #expect(restored.unreadCount == 1)
        await restored.store.close()
    }

    @Test(arguments: ["the user", "the account", "signing in", "signing out", "backups"])
    func `the article shows the code that this file runs`(_ part: String) throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let code = try #require(
            String(contentsOf: here, encoding: .utf8)
                .components(separatedBy: "// Article Accounts, \(part) begins\n").dropFirst().first?
                .components(separatedBy: "// Article Accounts, \(part) ends").first)
        let article = try String(
            contentsOf: root.appending(path: "Sources/Foldback/Foldback.docc/Accounts.md"),
            encoding: .utf8)
        #expect(article.contains("```swift\n\(code)```\n"))
    }
}
