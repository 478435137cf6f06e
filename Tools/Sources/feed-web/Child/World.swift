import FlyingFox
import Foldback
import FoldbackExamples
import FoldbackSync
import FoldbackUI
import Foundation

/// Everything that the server shows: the authority, the devices with their screens, and the stage.
@MainActor final class World {
    let clock: FeedClock
    let stage: Stage
    let authority: FeedAuthority
    let stageView: StageView
    /// The names of the replicas in their order.
    let names: [String]
    private let screens: [String: FeedScreen]

    init(
        at directory: URL, clock kind: ClockKind, replicas names: [String], seedPosts: Int,
        restarts: Int
    ) async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appending(path: "stage.json")
        let settings = Stage.settings(in: file)
        clock = kind == .manual ? .manual(start: .seconds(settings.now)) : .system
        stage = Stage(settings, file: file, clock: clock)
        authority = try await FeedAuthority(
            at: directory.appending(path: "authority"), seeds: Seeds.decisions(seedPosts),
            clock: clock)
        stageView = StageView(stage, authority, clock, replicas: names, restarts: restarts)
        self.names = names
        let boot = String(UInt32.random(in: 0 ... .max), radix: 16)
        var screens: [String: FeedScreen] = [:]
        for name in names {
            let replica = try await Replica(
                name, at: directory.appending(path: "replica-\(name)"), stage, authority, clock)
            screens[name] = FeedScreen(replica, stageView, clock, boot: boot)
            replica.start()
        }
        self.screens = screens
        beat()
    }

    func screen(_ name: String) throws(CommandError) -> FeedScreen {
        guard let screen = screens[name] else {
            throw CommandError(status: .unknown, "there is no replica \"\(name)\"")
        }
        return screen
    }

    /// Returns the messages for a page that was opened. The device's feed is loaded when its first page
    /// is opened.
    func connect(_ name: String, _ query: [HTTPRequest.QueryItem]) throws(CommandError) -> Hub {
        let screen = try screen(name)
        screen.appear()
        return screen.hub
    }

    /// The time between two signs of life. A connection that the other end has closed is noticed only
    /// when something is written to it.
    private static let beatPause = Duration.seconds(10)

    private func beat() {
        Task { [clock, screens] in
            while !Task.isCancelled {
                await clock.ui.sleep(clock.ui.now().advanced(by: Self.beatPause))
                for screen in screens.values { screen.hub.beat() }
            }
        }
    }

    // MARK: Behind the scenes

    func perform(_ command: StageCommand) async throws {
        defer { for screen in screens.values { screen.show() } }
        switch command {
        case .hold: stage.hold()
        case .release(let id): try stage.release(id)
        case .reject(let id, let reason): try stage.decide(id, .reject(reason))
        case .reword(let id, let text): try stage.decide(id, .reword(text))
        case .rejectNext: stage.change { $0.rejectsNext = true }
        case .loseNextAnswer: stage.change { $0.losesNextAnswer = true }
        case .setOnline(let isOnline, let name):
            let screen = try screen(name)
            stage.setOnline(isOnline, name)
            screen.replica.setOnline(isOnline)
        case .crash: kill(getpid(), SIGKILL)
        case .delay(let seconds): stage.change { $0.delay = seconds }
        case .boosted(let reach): await authority.setReach(reach)
        case .advance, .fraction, .fail: throw CommandError(status: .conflict, "not yet")
        }
    }
}
