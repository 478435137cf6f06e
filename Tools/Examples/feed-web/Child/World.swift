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
    let archive: Archive
    /// The names of the replicas in their order.
    let names: [String]
    /// The screens by replica. They and this object keep each other until the process ends.
    private(set) var screens: [String: FeedScreen] = [:]
    /// The number of earlier processes.
    let restarts: Int
    /// Distinguishes this process from earlier processes.
    let boot = String(UInt32.random(in: 0 ... .max), radix: 16)
    private let directory: URL

    nonisolated static func settingsFile(in directory: URL) -> URL {
        directory.appending(path: "stage.json")
    }

    /// Opens all files, or creates them.
    ///
    /// - Parameters:
    ///   - directory: where the files are.
    ///   - kind: whether the time passes by itself.
    ///   - names: the names of the replicas.
    ///   - seedPosts: the number of posts that a new authority has.
    ///   - restarts: the number of earlier processes.
    ///   - lost: called when the authority can decide nothing until its files are opened again.
    init(
        at directory: URL, clock kind: ClockKind, replicas names: [String], seedPosts: Int,
        restarts: Int, lost: @escaping @Sendable (LogError) -> Void
    ) async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.directory = directory
        let file = Self.settingsFile(in: directory)
        let settings = Stage.settings(in: file)
        clock = kind == .manual ? .manual(start: .seconds(settings.now)) : .system
        stage = Stage(settings, file: file, clock: clock)
        authority = try await FeedAuthority(
            at: directory.appending(path: "authority"), seeds: try Seeds.events(seedPosts),
            clock: clock, lost: lost)
        archive = Archive(at: directory.appending(path: "archive"))
        (self.names, self.restarts) = (names, restarts)
        for name in names {
            let replica = try await Replica(
                name, at: directory.appending(path: "replica-\(name)"), stage, authority, clock)
            screens[name] = FeedScreen(replica, in: self)
            replica.start()
        }
        beat()
        followAuthority()
    }

    func screen(_ name: String) throws(Refusal) -> FeedScreen {
        guard let screen = screens[name] else {
            throw Refusal(.notFound, "the replica \"\(name)\" does not exist")
        }
        return screen
    }

    /// The time between two signs of life. A connection that the other end has closed is noticed only
    /// when something is written to it.
    private static let beatPause = Duration.seconds(10)

    private func beat() {
        Task { [clock, screens] in
            while true {
                await clock.ui.sleep(clock.ui.now().advanced(by: Self.beatPause))
                for screen in screens.values {
                    screen.publisher.hub.beat()
                    screen.archive?.publisher.hub.beat()
                }
            }
        }
    }

    /// The stage shows the position of the newest decision.
    private func followAuthority() {
        Task { [authority, screens] in
            for await _ in authority.space.store.views {
                for screen in screens.values { screen.show() }
            }
        }
    }

    // MARK: The stage

    /// Carries out a command. With a manual clock, all that follows from earlier commands has happened
    /// before, and all that follows from this command has happened on return.
    func perform(_ command: StageCommand) async throws {
        await settle()
        defer { for screen in screens.values { screen.show() } }
        switch command {
        case .hold: stage.hold()
        case .release(let id): try stage.release(id)
        case .reject(let id, let reason): try stage.decide(id, .reject(reason))
        case .reword(let id, let text): try stage.decide(id, .reword(try checked(text)))
        case .rejectNext(let isOn): stage.change { $0.rejectsNext = isOn }
        case .offline(let name): try setOnline(false, name)
        case .online(let name): try setOnline(true, name)
        case .conflict(let name): try await conflict(try screen(name))
        case .crash: end { kill(getpid(), SIGKILL) }
        case .startAgain:
            try Data().write(to: Child.removalFile(in: directory))
            end { exit(Child.newLogs) }
        case .delay(let seconds):
            let seconds = try checked(seconds)
            stage.change { $0.delay = seconds }
        case .fraction(let wait, let fraction): try stage.report(fraction, of: wait)
        case .advance(let seconds):
            try await advance(by: .milliseconds((checked(seconds) * 1_000).rounded()))
        }
        await settle()
    }

    private func setOnline(_ isOnline: Bool, _ name: String) throws(Refusal) {
        let screen = try screen(name)
        stage.setOnline(isOnline, name)
        screen.replica.setOnline(isOnline)
    }

    /// Ends this process, once the answer is on its way.
    private func end(_ how: @escaping @Sendable () -> Void) {
        Thread {
            usleep(20_000)
            how()
        }.start()
    }

    /// Returns the address of a page that shows a device's log. The supervisor runs the program that
    /// serves it, and writes the address to a file.
    func addressOfLog(of name: String) async throws -> String {
        _ = try screen(name)
        let file = Inspectors.file(for: name, in: directory.path)
        printAtOnce("\(Inspectors.command) \(name)\n")
        for _ in 0..<Self.lookingMax {
            try await Task.sleep(for: .milliseconds(50))
            let text = FileManager.default.contents(atPath: file).map {
                String(decoding: $0, as: UTF8.self)
            }
            if let text, text.hasSuffix("\n") { return String(text.dropLast()) }
        }
        throw Refusal(.conflict, "the program that shows the log did not start")
    }

    /// How often to look for the file: for 10 s.
    private static let lookingMax = 200

    /// The author deletes the post of the device's oldest pending intent, which does not apply then.
    private func conflict(_ screen: FeedScreen) async throws {
        for intent in screen.replica.store.overlay where intent.state == .pending {
            guard let post = intent.event?.did.subject,
                let author = authority.feed.author(of: post)
            else { continue }
            return try await authority.delete(post, by: author)
        }
        throw Refusal(.conflict, "hold the answers, then like a post or comment on it")
    }
}
