import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import Testing

/// Question: what is left of answered intents when machines are killed, frozen and replaced under load?
extension ClusterTests {
    private enum Fault: String, CaseIterable {
        case primaryKilled = "primary killed, standby promoted"
        case standbyKilled = "standby killed"
        case serverKilled = "server killed"
        case commitsCanceled = "commits canceled"
        case canceledThenPromoted = "commits canceled, standby promoted"
        case primaryFrozen = "primary frozen, standby promoted"

        var promotes: Bool {
            switch self {
            case .primaryKilled, .canceledThenPromoted, .primaryFrozen: true
            case .standbyKilled, .serverKilled, .commitsCanceled: false
            }
        }
    }

    private static let isFull =
        ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] == "full"
    private static let plan: [Fault] =
        isFull
        ? (0..<10).flatMap { round in
            [
                .primaryKilled, .serverKilled, .standbyKilled,
                round.isMultiple(of: 2) ? .canceledThenPromoted : .commitsCanceled,
            ] + (round.isMultiple(of: 3) ? [.primaryFrozen] : [])
        }
        : [
            .primaryKilled, .serverKilled, .standbyKilled, .canceledThenPromoted, .serverKilled,
            .primaryFrozen,
        ]
    private static let answersMin = isFull ? 50_000 : 5_000

    /// One run: the faults, and what clients saw of each.
    private struct FaultRun {
        let cluster: Cluster
        let fleet: Fleet
        let load: ClusterLoad
        var random: SplitMix64
        var pauses: [Fault: (count: Int, longest: Duration)] = [:]
        /// Rows that only a replaced primary has.
        var ghostCount = 0
        var killCount = 0

        /// Waits until clients get answers.
        func waitForAnswers(_ count: Int = 200) async throws {
            let before = load.ledger.count
            try await eventually(within: .seconds(90), "answers") {
                load.ledger.count >= before + count ? true : nil
            }
        }

        mutating func inject(_ fault: Fault) async throws {
            _ = load.ledger.takeLongestPause()
            switch fault {
            case .primaryKilled:
                try await cluster.failOver()
                try await waitForAnswers()
            case .standbyKilled:
                try await cluster("kill", "standby")
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_500, using: &random)))
            case .serverKilled:
                let server = Int.random(in: 0..<fleet.count, using: &random)
                killCount += 1
                // After a promotion, somebody must vouch for the table, so one server keeps its copy.
                try await fleet.kill(
                    server, forgetting: server > 0 && killCount.isMultiple(of: 2))
                try await fleet.start(server)
                try await waitForAnswers()
            case .commitsCanceled, .canceledThenPromoted: try await cancel(fault)
            case .primaryFrozen: try await freeze()
            }
            if fault.promotes || fault == .standbyKilled { try await cluster("rejoin") }
            try await waitForAnswers()
            let pause = load.ledger.takeLongestPause()
            let known = pauses[fault]
            pauses[fault] = ((known?.count ?? 0) + 1, max(pause, known?.longest ?? .zero))
        }

        /// Cancels commits that wait for the standby. PostgreSQL then says that they succeeded.
        private mutating func cancel(_ fault: Fault) async throws {
            try await cluster("pause", "standby")
            try await cancelStatements()
            guard fault == .canceledThenPromoted else {
                try await cluster("resume", "standby")
                return
            }
            // What the standby has in the buffers of its socket would survive.
            try await cluster("kill", "standby")
            try await cancelStatements()
            try await replacePrimary { try await $0.failOver() }
        }

        private mutating func cancelStatements() async throws {
            for _ in 0..<3 {
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...300, using: &random)))
                _ = try await cluster.query(
                    """
                    SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
                    WHERE usename = 'foldback_server'
                    """)
            }
        }

        /// Freezes the primary, promotes the standby, and lets the old primary go on beside the new one.
        private mutating func freeze() async throws {
            try await cluster("pause", "primary")
            try await cluster("promote")
            try await waitForAnswers()
            // The script calls it the standby now.
            try await cluster("resume", "standby")
            try await Task.sleep(for: .seconds(3))
            try await waitForAnswers()
        }

        private mutating func replacePrimary(
            _ body: (Cluster) async throws -> Void
        ) async throws {
            // The time is different if the intent was decided again.
            let statement =
                "SELECT replica, number, decided_at FROM foldback.decision WHERE replica IS NOT NULL"
            let before = try await Set(cluster.query(statement))
            try await body(cluster)
            ghostCount += try await before.subtracting(cluster.query(statement)).count
        }
    }

    @Test func `failures of primary, standby and servers under load lose and repeat nothing`()
        async throws
    {
        let seed = UInt64.random(in: 0..<1_000_000)
        print("seed \(seed)")
        let cluster = try await Cluster()
        // A server must not depend on what somebody has set for its role.
        for setting in [
            "client_min_messages = error", "synchronous_commit = off", "search_path = nowhere",
            "default_transaction_isolation = serializable",
        ] { _ = try await cluster.query("ALTER ROLE foldback_server SET \(setting)") }
        let fleet = try await Fleet(cluster.conninfo)
        let load = ClusterLoad(fleet, seed: seed)
        let start = ContinuousClock.now
        var run = FaultRun(
            cluster: cluster, fleet: fleet, load: load, random: SplitMix64(seed: seed))
        let clients = Task { try await load.run(clients: 6) }
        do {
            try await run.waitForAnswers()
            for fault in Self.plan { try await run.inject(fault) }
            try await eventually(within: .seconds(120), "\(Self.answersMin) answers") {
                load.ledger.count >= Self.answersMin ? true : nil
            }
        } catch {
            clients.cancel()
            _ = try? await clients.value
            let finding = load.ledger.compare(with: try await cluster.rows(of: "main"))
            let errors = try (0..<2).map { try fleet.errors($0).suffix(2_000) }
            Issue.record(
                "seed \(seed): \(error)\n\(finding)\n\(errors.joined(separator: "\n\n"))")
            return
        }
        load.stop()
        try await clients.value

        let rows = try await cluster.rows(of: "main")
        let finding = load.ledger.compare(with: rows)
        print(
            """
            \((ContinuousClock.now - start).formatted(.units(allowed: [.seconds]))), \
            \(finding.answered) answered, \(rows.count) rows
            lost \(finding.lost), decided twice \(finding.twice), moved \(finding.moved), \
            gaps \(finding.gaps)
            rows that were seen on a primary, and were gone on the next: \(run.ghostCount)
            failures that clients saw: \(load.ledger.failures)
            """)
        for (fault, pause) in run.pauses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let seconds = pause.longest.formatted(
                .units(allowed: [.seconds], fractionalPart: .show(length: 2)))
            print("\(pause.count) x \(fault.rawValue): longest time without an answer \(seconds)")
        }
        #expect(finding.isClean, "seed \(seed): \(finding)")

        // Each server's log has the table's effects.
        let effects = rows.compactMap { row -> ConfirmedEvent<DocumentEvent>? in
            guard case .accepted? = row.verdict else { return nil }
            return ConfirmedEvent(
                position: row.position,
                recorded: RecordedEvent(
                    format: Documents.codec.format, bytes: Array(row.effect.utf8)),
                origin: row.intent)
        }
        for server in 0..<2 {
            #expect(try await fleet.trouble(server) == nil)
            let pages = try await fleet.pages(server)
            #expect(pages.end.through == rows.last?.position)
            let isEqual = pages.events.map(\.recordedParts) == effects.map(\.recordedParts)
            #expect(isEqual, "seed \(seed): server \(server) has other effects than the table")
        }
    }
}

extension ConfirmedEvent<DocumentEvent> {
    /// What the server sent, as a value that can be compared.
    fileprivate var recordedParts: [String] {
        let bytes: [UInt8] =
            switch delivered {
            case .recorded(let event): event.bytes
            case .event(let event): (try? Documents.codec.encode(event)) ?? []
            }
        return [
            "\(position)", "\(origin.map { "\($0)" } ?? "")",
            String(decoding: bytes, as: UTF8.self),
        ]
    }
}
