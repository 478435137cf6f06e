@testable import feed_web

/// Everything that a server shows, in the process of the test. The clock stands still.
///
/// There are two devices, mia and ben, and three posts by others. mia's page has loaded them.
@MainActor func withWorld(
    isLoaded: Bool = true, _ test: @MainActor (World, FeedScreen, Folder) async throws -> Void
) async throws {
    let folder = try Folder()
    let world = try await World(
        at: folder.url, clock: .manual, replicas: ["mia", "ben"], seedPosts: 3, restarts: 0,
        lost: { _ in })
    let screen = try world.screen("mia")
    if isLoaded {
        _ = try await screen.appear(PageQuery())
        await world.settle()
    }
    try await test(world, screen, folder)
    withExtendedLifetime(folder) {}
}

extension FeedScreen {
    /// The rows as pages show them.
    var shown: [WireRow] { list.snapshot.sections.flatMap(\.rows).map(writer.row) }
}

extension World {
    /// Does what a page of a replica asks for, and returns when nothing more happens.
    func perform(_ command: ReplicaCommand, as name: String) async throws {
        let screen = try screen(name)
        _ = try await screen.appear(PageQuery())
        await settle()
        _ = try await screen.perform(command, from: nil)
        await settle()
    }
}
