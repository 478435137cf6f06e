import Foldback

/// Channels and their messages: two projections of one log that refuse different events. Each is there as a
/// value and as rows.
public enum Chat: Codable, Sendable, Equatable {
    case created(channel: Int)
    case posted(channel: Int, message: Int)

    /// The channels with their counts of messages. They refuse a message without its channel.
    public static let channels: [any ChatPart.Type] = [Channels.self, ChannelRows.self]
    /// The messages. They take each message once, whatever its channel.
    public static let messages: [any ChatPart.Type] = [Messages.self, MessageRows.self]
}

/// A projection of a chat.
public protocol ChatPart: EventFold where Event == Chat {
    /// The keys of what the screen shows, and the conflicted intents.
    static func shown<P: EventFold>(
        in store: Store<P>
    ) throws -> (keys: [Int], conflicted: [IntentNumber]) where P.Event == Chat
    /// The same at a past sequence.
    static func shown<P: EventFold>(
        in store: Store<P>, at sequence: LogSequence
    ) async throws -> (keys: [Int], conflicted: [IntentNumber]) where P.Event == Chat
}

/// The error of a part that refuses an event.
public struct ChatConflict: Error, CustomStringConvertible {
    public let description: String
}

/// A part whose state is a value.
public protocol ChatValue: Projection, ChatPart {
    var keys: [Int] { get }
}

extension ChatValue {
    public static func shown<P: EventFold>(
        in store: Store<P>
    ) -> (keys: [Int], conflicted: [IntentNumber]) where P.Event == Chat {
        let snapshot = store.projected(Self.self).snapshot
        return (snapshot.view.keys, snapshot.conflicted)
    }

    public static func shown<P: EventFold>(
        in store: Store<P>, at sequence: LogSequence
    ) async throws -> (keys: [Int], conflicted: [IntentNumber]) where P.Event == Chat {
        let snapshot = try await store.projected(Self.self).snapshot(at: sequence)
        return (snapshot.view.keys, snapshot.conflicted)
    }
}

/// A part whose state is rows.
public protocol ChatRows: StoredProjection, ChatPart {
    static var table: RowTable<Int, Int> { get }
}

extension ChatRows {
    public static var schema: RowSchema { RowSchema(table) }

    public static func shown<P: EventFold>(
        in store: Store<P>
    ) throws -> (keys: [Int], conflicted: [IntentNumber]) where P.Event == Chat {
        try store.projected(Self.self).read {
            (try $0.page(of: table, limit: .max).map(\.key), $0.conflicted)
        }
    }

    public static func shown<P: EventFold>(
        in store: Store<P>, at sequence: LogSequence
    ) async throws -> (keys: [Int], conflicted: [IntentNumber]) where P.Event == Chat {
        try await store.projected(Self.self).read(at: sequence) {
            (try $0.page(of: table, limit: .max).map(\.key), $0.conflicted)
        }
    }
}

public struct Channels: ChatValue, Codable, Equatable {
    public private(set) var counts: [Int: Int] = [:]
    public var keys: [Int] { counts.keys.sorted() }

    public init() {}

    public mutating func apply(_ event: Chat, _ context: EventContext) throws {
        switch event {
        case .created(let channel): counts[channel] = counts[channel] ?? 0
        case .posted(let channel, _):
            guard let count = counts[channel] else {
                throw ChatConflict(description: "no channel \(channel)")
            }
            counts[channel] = count + 1
        }
    }
}

public struct Messages: ChatValue, Codable, Equatable {
    public private(set) var channels: [Int: Int] = [:]
    public var keys: [Int] { channels.keys.sorted() }

    public init() {}

    public mutating func apply(_ event: Chat, _ context: EventContext) throws {
        guard case .posted(let channel, let message) = event else { return }
        guard channels.updateValue(channel, forKey: message) == nil else {
            // It throws after the change on purpose.
            throw ChatConflict(description: "message \(message) is there already")
        }
    }
}

public struct ChannelRows: ChatRows {
    public static let table = RowTable("channels", key: Int.self, row: Int.self)

    public static func apply(
        _ event: Chat, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .created(let channel):
            if try rows.get(channel, in: table) == nil { try rows.put(0, at: channel, in: table) }
        case .posted(let channel, _): try rows.update(channel, in: table) { $0 += 1 }
        }
    }
}

public struct MessageRows: ChatRows {
    public static let table = RowTable("messages", key: Int.self, row: Int.self)

    public static func apply(
        _ event: Chat, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .posted(let channel, let message) = event else { return }
        try rows.insert(channel, at: message, in: table)
    }
}
