import Foldback
import Foundation
import GRDB

/// A row of about 200 bytes, the same on both sides.
struct Message: Codable, Equatable, Sendable {
    var id: Int64
    var thread: Int64
    /// The order of these numbers differs from the order of the ids.
    var sent: Int64
    var stars: Int64
    var isRead: Bool
    var text: String

    static let count: Int64 = 100_000

    init(id: Int64) {
        self.id = id
        thread = id % 1_000
        sent = Self.sent(of: id)
        stars = 0
        isRead = id % 10 != 0
        text = String(repeating: "meet me at the harbour ", count: 7) + String(100_000_000 + id)
    }

    static func sent(of id: Int64) -> Int64 { id &* 48_271 % 2_147_483_647 }
}

/// A change by the user, which is stored in the outbox and sent to the server.
enum Change: Codable, Equatable, Sendable {
    case starred(Int64)
    /// Adds messages. Only Foldback needs it, because all its rows come from events.
    case filled(from: Int64, count: Int64)
}

extension Message {
    init(id: Int64, thread: Int64, sent: Int64, stars: Int64, isRead: Bool, text: String) {
        self.id = id
        self.thread = thread
        self.sent = sent
        self.stars = stars
        self.isRead = isRead
        self.text = text
    }
}
