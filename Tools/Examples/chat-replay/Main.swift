import ArgumentParser
import Foldback
import FoldbackExamples
import FoldbackReplay

/// A replay tool over logs with two projections. Tests run it.
@main
struct ChatReplay: ReplayTool {
    static let projections = [
        ReplayProjection(
            Channels.self,
            checks: ["no conflict": { $0.conflicted.isEmpty }]),
        ReplayProjection(Messages.self), ReplayProjection(MessageRows.self),
    ]
    static let reruns = [ReplayComparison("doubled", old: Messages.self, new: OtherMessages.self)]
    static let commands: [any ParsableCommand.Type] = [Make.self]
}

/// Makes a log whose projections share their conflicts. The server rejects a channel, so that its
/// message leaves all views.
struct Make: AsyncParsableCommand {
    enum Second: String, ExpressibleByArgument {
        case value, rows, unlisted

        var projection: AdditionalProjection<ChatEvent> {
            switch self {
            case .value: AdditionalProjection(Messages.self)
            case .rows: AdditionalProjection(MessageRows.self)
            case .unlisted: AdditionalProjection(Unlisted.self)
            }
        }
    }

    @OptionGroup var log: DirectoryArgument
    @Argument var second: Second

    func run() async throws {
        let store = try await Store.open(
            at: log.directory, Channels.self, also: [second.projection],
            confirmedBy: .acknowledgement, durability: .relaxed)
        try await store.record(.created(channel: 1))
        try await store.record(.posted(channel: 1, message: 1))
        try await store.record(.created(channel: 2))
        try await store.record(.posted(channel: 2, message: 2))
        try await store.reject(1, message: "it is taken")
        await store.close()
    }
}
