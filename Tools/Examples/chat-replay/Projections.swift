import Foldback
import FoldbackExamples

/// The messages of a chat, by number, with the numbers of their channels.
struct Messages: Projection, Codable {
    private(set) var channels: [Int: Int] = [:]

    mutating func apply(_ event: ChatEvent, _ context: EventContext) throws {
        guard case .posted(let channel, let message) = event else { return }
        channels[message] = channel
    }
}

/// The same as rows.
enum MessageRows: StoredProjection {
    static let channels = RowTable("channels", key: Int.self, row: Int.self)
    static let schema = RowSchema(channels)

    static func apply(
        _ event: ChatEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .posted(let channel, let message) = event else { return }
        try rows.put(channel, at: message, in: channels)
    }
}

/// A projection that is not in the list of the tool.
struct Unlisted: Projection, Codable {
    mutating func apply(_ event: ChatEvent, _ context: EventContext) throws {}
}

/// The messages under a changed rule: a channel's number counts twice. `rerun` compares them.
struct OtherMessages: Projection, Codable {
    private(set) var channels: [Int: Int] = [:]

    mutating func apply(_ event: ChatEvent, _ context: EventContext) throws {
        guard case .posted(let channel, let message) = event else { return }
        channels[message] = channel * 2
    }
}
