import Foldback
import FoldbackSync
import Foundation
import Processes
import Testing

/// Question: do servers over PostgreSQL keep their promises when machines fail, and data comes back old?
///
/// The processes are real: servers, a primary and a standby.
@Suite(.serialized, .enabled(if: Cluster.isThere, "PostgreSQL is not installed"))
struct ClusterTests {
    func intents(
        _ numbers: ClosedRange<UInt64>, of replica: String = "r"
    ) throws -> [Submission<DocumentEvent>] {
        try numbers.map { number in
            // Each third one does not apply.
            try Submission(
                number, of: replica,
                .set(
                    "key \(number)", .integer(Int64(number)),
                    require: number.isMultiple(of: 3) ? .present : nil))
        }
    }

    /// Returns the failure of a request; nil if it is answered.
    func failure(
        _ body: () async throws(AuthorityFailure) -> Void
    ) async -> AuthorityFailure? {
        do throws(AuthorityFailure) {
            try await body()
            return nil
        } catch { return error }
    }

    /// Sends intents until they have answers.
    func answers(
        to intents: [Submission<DocumentEvent>], by client: any Authority<DocumentEvent>
    ) async throws -> [IntentID: Verdict<DocumentEvent>] {
        try await eventually("an answer") {
            let verdicts = try? await client.submit(intents, from: .beginning)
            return verdicts.flatMap { $0.byIntent.count == intents.count ? $0.byIntent : nil }
        }
    }

    static func isUnavailable(_ failure: AuthorityFailure?) -> Bool {
        if case .unavailable = failure { true } else { false }
    }

    @Sendable private static func open(_ log: URL) async throws(LogError) -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
    }

    /// A device with a log, which brings what a server has lost.
    private func device(
        in folder: Folder, _ client: any Authority<DocumentEvent>
    ) async throws -> Sync<Documents> {
        let log = folder.url.appending(path: "device", directoryHint: .isDirectory)
        return Sync(
            try await Self.open(log), with: client, policy: .ordered,
            continuing: Continuing(opening: Self.open) { _ in .bring })
    }

    // MARK: Both nodes

    @Test func `without PostgreSQL a server reads and does not decide, and later answers`()
        async throws
    {
        let cluster = try await Cluster()
        let fleet = try await Fleet(cluster.conninfo)
        let client = try fleet.client(0)
        let first = try await answers(to: intents(1...20), by: client)
        let folder = try Folder()
        let device = try await device(in: folder, client)
        #expect(try await device.drain(within: .seconds(30)) == .drained)
        let before = try await fleet.pages(0)
        try await cluster("kill", "primary")
        try await cluster("kill", "standby")
        let more = try intents(21...30)
        let refusal = await failure { () throws(AuthorityFailure) in
            _ = try await client.submit(more, from: .beginning)
        }
        #expect(Self.isUnavailable(refusal), "\(refusal.map { "\($0)" } ?? "answered")")
        let during = try await fleet.pages(0)
        #expect(during.events == before.events && during.end == before.end)
        try await device.store.record(.set("offline", 1))
        #expect(try await device.drain(within: .seconds(1)) == .timedOut(left: 1))
        #expect(device.store.view.json["offline"] == 1 && device.store.view.json["key 1"] == 1)

        try await cluster("start")
        for server in 0..<2 {
            #expect(try await answers(to: intents(1...20), by: fleet.client(server)) == first)
        }
        let second = try await answers(to: more, by: client)
        #expect(try await answers(to: more, by: fleet.client(1)) == second)
        #expect(try await device.drain(within: .seconds(30)) == .drained)
        #expect(device.store.overlay.isEmpty && device.store.confirmed.json["offline"] == 1)
        #expect(try await cluster.rows(of: "main").count { $0.intent != nil } == 31)
        await device.store.close()
    }

    @Test func `a database that can be read and takes no rows is a fault until it takes them`()
        async throws
    {
        let cluster = try await Cluster()
        let fleet = try await Fleet(cluster.conninfo, count: 1)
        let client = try fleet.client(0)
        let first = try intents(1...2)
        let answers = try await answers(to: first, by: client)
        #expect(try await fleet.trouble(0) == nil)
        let more = try intents(4...5)
        // Each new row breaks it, as each does on a full disk.
        _ = try await cluster.query(
            "ALTER TABLE foldback.decision ADD CONSTRAINT no_room CHECK (false) NOT VALID")
        let refusal = await failure { () throws(AuthorityFailure) in
            _ = try await client.submit(more, from: .beginning)
        }
        #expect(Self.isUnavailable(refusal), "\(refusal.map { "\($0)" } ?? "answered")")
        #expect(try await client.submit(first, from: .beginning).byIntent == answers)
        let trouble = try await fleet.trouble(0)
        #expect(trouble?.contains("no_room") == true, "\(trouble ?? "no fault")")
        _ = try await cluster.query("ALTER TABLE foldback.decision DROP CONSTRAINT no_room")
        _ = try await self.answers(to: more, by: client)
        #expect(try await fleet.trouble(0) == nil)
    }

    // MARK: Lost data

    /// What must hold after the table lost answered decisions, of which the servers know.
    private func requireRefusal(_ fleet: Fleet, _ servers: Range<Int>) async throws {
        let probe = try intents(900...900)
        for server in servers {
            let client = try fleet.client(server)
            let words = try await eventually("server \(server) refuses") {
                // A request makes the server look.
                let failure = await failure { () throws(AuthorityFailure) in
                    _ = try await client.submit(probe, from: .beginning)
                }
                try #require(failure != nil, "server \(server) decides on what is left")
                let trouble = try await fleet.trouble(server)
                return trouble?.contains("the table lost decisions") == true ? trouble : nil
            }
            #expect(words.contains("the table lost decisions"))
            let reading = await failure { () throws(AuthorityFailure) in
                _ = try await client.changes(after: .beginning)
            }
            #expect(Self.isUnavailable(reading), "server \(server) serves what is left")
        }
    }

    /// Begins a new lineage, and requires that all servers go on.
    private func heal(
        _ fleet: Fleet, _ servers: Range<Int>, old device: SyncPoint
    ) async throws -> Lineage {
        let end = try await fleet.command("new-lineage", "main")
        #expect(end.isSuccess, "\(end.errors)")
        let probe = try intents(901...901)
        for server in servers {
            let (client, number) = (try fleet.client(server), UInt64(1_000 + server))
            _ = try await answers(to: intents(number...number), by: client)
            #expect(try await fleet.trouble(server) == nil)
            for failure in [
                await failure { () throws(AuthorityFailure) in
                    _ = try await client.changes(after: device)
                },
                await failure { () throws(AuthorityFailure) in
                    _ = try await client.submit(probe, from: device)
                },
            ] { #expect(failure == .superseded(shared: 0)) }
        }
        let ends = [try await fleet.pages(0).end, try await fleet.pages(1).end]
        #expect(ends[0] == ends[1] && ends[0].lineage != device.lineage)
        #expect(end.output.contains("\(ends[0].lineage?.name.string ?? "none")"), "\(end.output)")
        return try #require(ends[0].lineage)
    }

    @Test func `after an older backup is put back, no server serves before a new lineage`()
        async throws
    {
        let cluster = try await Cluster()
        let fleet = try await Fleet(cluster.conninfo, count: 3)
        try await fleet.kill(2)
        let kept = try await answers(to: intents(1...20), by: fleet.client(0))
        let backup = try await cluster.backup()
        let lost = try await answers(to: intents(21...40), by: fleet.client(0))
        let folder = try Folder()
        let own = try await self.device(in: folder, fleet.client(0))
        try await own.store.record(.set("own", 1))
        #expect(try await own.drain(within: .seconds(30)) == .drained)
        let device = try await fleet.pages(1).end
        try await cluster("restore", backup)
        try await own.store.record(.set("later", 2))

        try await requireRefusal(fleet, 0..<2)
        try await fleet.start(2)
        try await requireRefusal(fleet, 2..<3)
        // The refusal is in the table, so it outlives the servers.
        for server in 0..<2 { try await fleet.kill(server, forgetting: true) }
        for server in 0..<2 { try await fleet.start(server) }
        try await requireRefusal(fleet, 0..<2)

        _ = try await heal(fleet, 0..<3, old: device)
        #expect(try await answers(to: intents(1...20), by: fleet.client(1)) == kept)
        let again = try await answers(to: intents(21...40), by: fleet.client(1))
        #expect(again != lost, "they are decided again, at new positions")
        let twice = try await cluster.query(
            "SELECT replica, number FROM foldback.decision WHERE replica IS NOT NULL "
                + "GROUP BY 1, 2 HAVING count(*) > 1")
        #expect(twice.isEmpty)
        // The device continues on a new log, and brings what it did.
        let old = own.store
        #expect(try await own.drain(within: .seconds(30)) == .drained)
        #expect(own.store !== old && own.store.overlay.isEmpty)
        let shown = own.store.confirmed.json
        #expect(shown["own"] == 1 && shown["later"] == 2 && shown["key 1"] == 1)
        await own.store.close()
    }

    @Test func `a standby that lagged is promoted, and the server that answered notices the loss`()
        async throws
    {
        let cluster = try await Cluster()
        let fleet = try await Fleet(cluster.conninfo)
        let kept = try await answers(to: intents(1...20), by: fleet.client(0))
        _ = try await answers(to: intents(1...20), by: fleet.client(1))
        try await cluster("async")
        // A standby that is only frozen has the rest in the buffers of its socket.
        try await cluster("kill", "standby")
        _ = try await answers(to: intents(21...40), by: fleet.client(0))
        let device = try await fleet.pages(0).end
        try await cluster.failOver()

        try await requireRefusal(fleet, 0..<2)
        _ = try await heal(fleet, 0..<2, old: device)
        #expect(try await answers(to: intents(1...20), by: fleet.client(0)) == kept)
        #expect(try await answers(to: intents(21...40), by: fleet.client(0)).count == 20)
    }
}
