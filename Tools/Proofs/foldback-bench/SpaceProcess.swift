import Foldback
import FoldbackServer
import FoldbackSync
import Foundation

/// Processes that open one space or many, so that their caches and memory have nothing of them before.
enum SpaceProcess {
    /// The subcommands that this executable starts itself with.
    static let command = "open-space"
    static let spacesCommand = "open-spaces"

    struct Report: Codable, Sendable {
        let openMilliseconds: Double
        /// From then until the answer to the first request.
        let firstMilliseconds: Double
        /// After that; nil where the system does not say.
        let anonymousBytes: Int?
    }

    struct SpacesReport: Codable, Sendable {
        /// The memory of all spaces after a decision in each; nil where the system does not say.
        let addedBytes: Int?
        let threads: Int
        /// The decisions of a second while a device in each space sends one intent after another.
        let perSecond: Double
    }

    static func run(_ arguments: some Collection<String>) async throws {
        guard arguments.count == 1, let path = arguments.first else {
            throw WrongUse(reason: "give the directory of the space to open")
        }
        let clock = ContinuousClock()
        let start = clock.now
        let space = try await Space.open(
            at: URL(filePath: path, directoryHint: .isDirectory), rules: ShelfRules())
        let opened = clock.now
        try await decide(1, space.authority(for: .reader), LogSources.system.freshReplica())
        let report = Report(
            openMilliseconds: (opened - start) / .milliseconds(1),
            firstMilliseconds: (clock.now - opened) / .milliseconds(1),
            anonymousBytes: Machine.anonymousResidentBytes)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        await space.close()
    }

    static func runOnMany(_ arguments: some Collection<String>) async throws {
        let words = Array(arguments)
        guard words.count == 2, let count = Int(words[1]) else {
            throw WrongUse(reason: "give the directory of the spaces, and their number")
        }
        let spaces = Spaces(
            in: URL(filePath: words[0], directoryHint: .isDirectory), rules: ShelfRules(),
            openMax: count)
        let authorities = (1...count).compactMap { number in
            SpaceName("space-\(number)").map { spaces.authority(for: .reader, in: $0) }
        }
        let replica = LogSources.system.freshReplica()
        let before = Machine.anonymousResidentBytes
        for authority in authorities { try await decide(1, authority, replica) }
        let after = Machine.anonymousResidentBytes
        let threads = Machine.threadCount ?? 0
        let rounds = 10
        let clock = ContinuousClock()
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for authority in authorities {
                group.addTask {
                    for round in 2...rounds + 1 { try await decide(round, authority, replica) }
                }
            }
            try await group.waitForAll()
        }
        let report = SpacesReport(
            addedBytes: before.flatMap { before in after.map { $0 - before } }, threads: threads,
            perSecond: Double(count * rounds) / ((clock.now - start) / .seconds(1)))
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        await spaces.close()
    }

    private static func decide(
        _ number: Int, _ authority: some Authority<Shelf.Event>, _ replica: ReplicaID
    ) async throws {
        let answer = try await authority.submit(
            [Submission(number, of: replica)], from: SyncPoint(lineage: nil, through: 0))
        precondition(answer.byIntent.count == 1, "an intent has no verdict")
    }
}
