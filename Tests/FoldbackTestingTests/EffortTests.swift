import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A first user's laws reached 9 and 17 of 200 scripts in 5 seconds.
@Suite struct EffortTests {
    enum ChatEvent: Codable, Equatable, Sendable {
        case channelCreated(name: String)
        case channelRenamed(id: String, name: String)
        case posted(channel: String, author: String, text: String)
        case edited(message: String, text: String)
        case reacted(message: String, author: String, emoji: String)
        case read(channel: String, author: String)
    }

    struct NotFound: Error {}

    /// Two tables with an index, as an app has them.
    struct Chat: StoredProjection {
        typealias Event = ChatEvent

        struct Channel: Codable, Equatable, Sendable {
            var name: String
            var readBy: [String]
        }

        struct Message: Codable, Equatable, Sendable {
            let channel: String
            let author: String
            var text: String
            var reactions: [String]
        }

        static let channels = RowTable("channels", key: String.self, row: Channel.self)
        static let messages = RowTable("messages", key: String.self, row: Message.self)
        static let byChannel = messages.index("by channel") { _, message in message.channel }
        static let schema = RowSchema(channels, messages, byChannel)

        static func apply(
            _ event: Event, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch event {
            case .channelCreated(let name):
                try rows.insert(Channel(name: name, readBy: []), at: context.id(), in: channels)
            case .channelRenamed(let id, let name):
                try rows.update(id, in: channels) { $0.name = name }
            case .posted(let channel, let author, let text):
                guard try rows.get(channel, in: channels) != nil else { throw NotFound() }
                let message = Message(channel: channel, author: author, text: text, reactions: [])
                try rows.insert(message, at: context.id(), in: messages)
                try rows.update(channel, in: channels) { $0.readBy = [author] }
            case .edited(let message, let text):
                try rows.update(message, in: messages) { $0.text = text }
            case .reacted(let message, let author, let emoji):
                try rows.update(message, in: messages) { $0.reactions.append(emoji + author) }
            case .read(let channel, let author):
                try rows.update(channel, in: channels) { $0.readBy.append(author) }
            }
        }
    }

    /// A few hundred bytes of state.
    struct Sidebar: Projection, Codable, Equatable {
        typealias Event = ChatEvent

        struct Channel: Codable, Equatable, Sendable {
            var name: String
            var last = ""
            var unread = 0
        }

        var channels: [String: Channel] = [:]

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            switch event {
            case .channelCreated(let name): channels[context.id()] = Channel(name: name)
            case .channelRenamed(let id, let name): try change(id) { $0.name = name }
            case .posted(let channel, _, let text):
                try change(channel) { ($0.last, $0.unread) = (text, $0.unread + 1) }
            case .read(let channel, _): try change(channel) { $0.unread = 0 }
            case .edited, .reacted: break
            }
        }

        private mutating func change(_ id: String, _ body: (inout Channel) -> Void) throws {
            guard var channel = channels[id] else { throw NotFound() }
            body(&channel)
            channels[id] = channel
        }

        static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
            switch event {
            case .channelCreated: [context.id()]
            case .channelRenamed(let id, _), .posted(let id, _, _), .read(let id, _): [id]
            case .edited, .reacted: []
            }
        }
    }

    private static let ids = Generator<String>.element(of: ["me.1.0", "me.2.0", "other.1.0"])
    private static let authors = Generator<String>.element(of: ["ann", "ben"])
    // Channels come often, because a message needs one, and a law needs a message.
    private static let events = Generator<ChatEvent>.oneOf(
        .making(ChatEvent.channelCreated, .strings()),
        .making(ChatEvent.channelCreated, .strings()),
        .making(ChatEvent.channelRenamed, ids, .strings()),
        .making(ChatEvent.posted, ids, authors, .strings()),
        .making(ChatEvent.edited, ids, .strings()),
        .making(ChatEvent.reacted, ids, authors, .element(of: ["a", "b"])),
        .making(ChatEvent.read, ids, authors))

    /// The default effort without its limit, because this test shares the machine with all others.
    /// The default number of scripts needs full effort: it is most of a minute of processor time.
    private static var effort: Effort {
        var effort = Effort.standard
        effort.scriptsMax = TestEffort.value(quick: 100, full: effort.scriptsMax)
        effort.durationMax = nil
        return effort
    }

    @Test func `the default effort is complete for two tables`() async throws {
        let report = try await requireLaws(
            of: Chat.self, events: Self.events, rowIDs: ItemIDs(keysOf: Chat.messages),
            effort: Self.effort, completeness: .required, failures: .forgotten)
        let count = Self.effort.scriptsMax
        #expect(report.scripts == .init(asked: count, checked: count))
    }

    @Test func `the default effort is complete for a value`() async throws {
        let report = try await requireLaws(
            of: Sidebar.self, events: Self.events, itemIDs: ItemIDs(\.channels.keys),
            effort: Self.effort, completeness: .required, failures: .forgotten)
        let count = Self.effort.scriptsMax
        #expect(report.scripts == .init(asked: count, checked: count))
    }
}
