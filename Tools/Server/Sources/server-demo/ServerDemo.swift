import ArgumentParser

/// A server and two devices that are killed at random.
@main
struct ServerDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Kills a server and two devices at random, and counts what was lost.",
        subcommands: [Story.self, Device.self], defaultSubcommand: Story.self)
}
