import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync
import Foundation

/// Logs of a server that decides on the feed.
enum DecidedFeed {
    /// Rejects rude comments, and says how far a boost reaches.
    private struct Manners: Rules {
        func decide(
            _ intent: Submission<FeedEvent>, by account: Account, on feed: Feed, at time: Timestamp
        ) -> Ruling<FeedEvent> {
            switch intent.event.did {
            case .commented(_, "Bad"):
                .reject(Rejection(code: "rude", message: "Not like this."))
            case .boosted(let post, nil):
                .reword(FeedEvent(by: intent.event.by, did: .boosted(post: post, reach: 40)))
            default: .accept
            }
        }

        func access(of account: Account, to space: SpaceName) async -> Bool { true }
    }

    /// Devices of several accounts that send to one space.
    private actor Devices {
        let space: Space<Manners>
        private var next: [String: UInt64] = [:]

        init(_ directory: URL) async throws {
            space = try await Space.open(at: directory, rules: Manners())
        }

        /// Sends intents in one request, so that they are decided in one entry.
        func send(_ name: String, from replica: String, _ actions: FeedAction...) async throws {
            guard let account = Account(name), let id = ReplicaID(replica) else { return }
            let intents = try actions.map { action in
                next[replica, default: 0] += 1
                let event = FeedEvent(by: name, did: action)
                return Submission(
                    id: IntentID(replica: id, number: IntentNumber(next[replica]!)), event: event,
                    recorded: RecordedEvent(
                        format: Feed.codec.format, bytes: try Feed.codec.encode(event)),
                    time: Timestamp(millisecondsSince1970: 0), info: [:])
            }
            let start = SyncPoint(lineage: nil, through: 0)
            _ = try await space.authority(for: account).submit(intents, from: start)
        }
    }

    /// Entry 1 founds the space. Then come 8 entries of four accounts, of which ben has two devices and
    /// dan has a name that a page must not run.
    static func few(in folder: Folder) async throws -> String {
        let path = folder.path("decisions.log")
        let devices = try await Devices(URL(filePath: path))
        let post = "mia-phone.1.0"
        try await devices.send("mia", from: "mia-phone", .posted("Hello"))
        try await devices.send("ben", from: "ben-phone", .liked(post: post))
        try await devices.send("ben", from: "ben-tablet", .commented(post: post, text: "Bad"))
        try await devices.send("mia", from: "mia-phone", .boosted(post: post, reach: nil))
        try await devices.send(
            hostile, from: "dan", .liked(post: post), .commented(post: post, text: "Bad"),
            .boosted(post: post, reach: nil), .commented(post: "nowhere", text: "Good"))
        try await devices.send("cleo", from: "cleo", .followed("mia"))
        try await devices.send("ben", from: "ben-phone", .commented(post: post, text: "Good"))
        try await devices.send("cleo", from: "cleo", .unfollowed("mia"))
        await devices.space.close()
        return path
    }

    /// A device of mia that follows a space, which others use, too.
    actor Follower {
        let device: String
        let space: String
        private let devices: Devices
        private let store: Store<Feed>

        init(in folder: Folder) async throws {
            (device, space) = (folder.path("device.log"), folder.path("space.log"))
            devices = try await Devices(URL(filePath: space))
            store = try await Store.open(
                at: URL(filePath: device), Feed.self, confirmedBy: .downlink, durability: .relaxed,
                replica: .exactly(ReplicaID("mia-phone")!))
        }

        /// mia does something, perhaps offline.
        func record(_ action: FeedAction, confirmOnly: Bool = false) async throws {
            try await store.record(FeedEvent(by: "mia", did: action), confirmOnly: confirmOnly)
        }

        /// Another account does something online.
        func send(_ name: String, _ action: FeedAction) async throws {
            try await devices.send(name, from: "\(name)-phone", action)
        }

        /// The device sends what it has, and fetches.
        func sync() async throws {
            let authority = devices.space.authority(for: Account("mia")!)
            let result = try await Sync(store, with: authority, policy: .ordered)
                .drain(within: .seconds(20))
            guard result == .drained else { throw CocoaError(.userCancelled) }
        }

        func close() async {
            await store.close()
            await devices.space.close()
        }
    }

    /// mia posts online. Then ben likes the post and is rude, while mia, offline, is rude and boosts it.
    /// After mia's next sync, ben comments, which mia's device does not know.
    static func follower(in folder: Folder) async throws -> Follower {
        let follower = try await Follower(in: folder)
        let post = "mia-phone.1.0"
        try await follower.record(.posted("Hello"))
        try await follower.sync()
        try await follower.send("ben", .liked(post: post))
        try await follower.send("ben", .commented(post: post, text: "Bad"))
        try await follower.record(.commented(post: post, text: "Bad"))
        try await follower.record(.boosted(post: post, reach: nil), confirmOnly: true)
        try await follower.send("cleo", .followed("mia"))
        try await follower.sync()
        try await follower.send("ben", .commented(post: post, text: "Good"))
        return follower
    }

    static let hostile = "dan <img src=x onerror=alert(1)>\u{202E}"

    /// Each of 45 accounts posts. Then the first 29 like a post, and everyone whose number ends with 5
    /// comments rudely.
    static func crowd(in folder: Folder) async throws -> String {
        let path = folder.path("crowd.log")
        let devices = try await Devices(URL(filePath: path))
        let names = (0..<45).map { "user-\($0 / 10)\($0 % 10)" }
        for name in names { try await devices.send(name, from: name, .posted("I am \(name)")) }
        for name in names.prefix(29) {
            try await devices.send(name, from: name, .liked(post: "user-44.1.0"))
        }
        for name in names where name.hasSuffix("5") {
            try await devices.send(
                name, from: name, .commented(post: "user-44.1.0", text: "Bad"))
        }
        await devices.space.close()
        return path
    }
}
