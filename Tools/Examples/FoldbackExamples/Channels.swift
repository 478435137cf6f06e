import Foldback

/// An event of a chat, which several projections fold.
package enum ChatEvent: Codable, Sendable {
    case created(channel: Int)
    case posted(channel: Int, message: Int)
}

/// The channels of a chat with their counts of messages. They refuse a message without its channel.
package struct Channels: Projection, Codable {
    package private(set) var counts: [Int: Int] = [:]

    package init() {}

    package mutating func apply(_ event: ChatEvent, _ context: EventContext) throws {
        switch event {
        case .created(let channel): counts[channel] = counts[channel] ?? 0
        case .posted(let channel, _):
            guard let count = counts[channel] else { throw NoChannel(number: channel) }
            counts[channel] = count + 1
        }
    }
}

/// The reason why the channels refuse a message.
package struct NoChannel: Error, CustomStringConvertible {
    package let number: Int
    package var description: String { "no channel \(number)" }
}
