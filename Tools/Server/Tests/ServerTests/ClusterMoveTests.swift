import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Processes
import Testing

/// Question: does a space move from a folder to PostgreSQL without a trace, and what is said if it cannot?
extension ClusterTests {
    /// Asks a server without PostgreSQL on a folder, and returns what it says.
    private func embedded<T: Sendable>(
        on fleet: Fleet, _ body: (TestServer, HTTPAuthority<DocumentEvent>) async throws -> T
    ) async throws -> T {
        let folder = fleet.folder(0)
        let server = try await TestServer.start(
            in: folder, environment: ["SWIFT_BACKTRACE": "enable=no"])
        let client = HTTPAuthority<DocumentEvent>(
            server.address, space: "main",
            token: try await TestServer.token("ann", in: folder), transport: SocketTransport())
        let result = try await body(server, client)
        _ = try await server.stop()
        return result
    }

    @Test func `a space moves to PostgreSQL through kills, and devices notice nothing`()
        async throws
    {
        let cluster = try await Cluster()
        let fleet = try await Fleet(cluster.conninfo)
        try await fleet.kill(0)
        let requests: [[Submission<DocumentEvent>]] = try (0..<200).map { number in
            let first = UInt64(3 * number + 1)
            return try intents(first...first + 2)
        }
        var before: [IntentID: Verdict<DocumentEvent>] = [:]
        var devices: [SyncPoint] = []
        try await embedded(on: fleet) { _, client in
            for (number, request) in requests.enumerated() {
                let verdicts = try await client.submit(request, from: .beginning)
                before.merge(verdicts.byIntent) { $1 }
                guard number.isMultiple(of: 50) || number == requests.count - 1 else { continue }
                var device = SyncPoint.beginning
                while true {
                    let page = try await client.changes(after: device)
                    device = SyncPoint(
                        lineage: page.lineage, through: page.through, digest: page.digest)
                    if !page.hasMore { break }
                }
                devices.append(device)
            }
        }
        #expect(before.count == 600)

        var (killCount, sawPart) = (0, false)
        while true {
            let limit = killCount < 12 ? Double.random(in: 0.02...0.4) : 60
            let environment = TestServer.environment(fleet.folder(0)).merging([
                "FOLDBACK_POSTGRES": cluster.conninfo, "SWIFT_BACKTRACE": "enable=no",
            ]) { $1 }
            let end = try await onOwnThread {
                try run(
                    TestServer.command() + ["move", "main"], environment: environment,
                    secondsMax: limit)
            }
            if end.isSuccess { break }
            #expect(end.status == SIGKILL, "\(end.errors)")
            killCount += 1
            guard !sawPart, try await cluster.rows(of: "main").count > 0 else { continue }
            // Until the space has moved whole, nobody serves it.
            sawPart = true
            let (refusal, client) = (try intents(1...1), try fleet.client(1))
            let failure = await failure { () throws(AuthorityFailure) in
                _ = try await client.submit(refusal, from: .beginning)
            }
            #expect(Self.isUnavailable(failure), "\(failure.map { "\($0)" } ?? "served")")
            let trouble = try await fleet.trouble(1)
            #expect(trouble?.contains("'move' has not moved it whole") == true, "\(trouble ?? "")")
        }
        print("move: killed \(killCount) times, \(sawPart ? "also" : "never") in its middle")

        // The folder is a copy now.
        try await embedded(on: fleet) { server, client in
            let failure = await failure { () throws(AuthorityFailure) in
                _ = try await client.submit(requests[0], from: .beginning)
            }
            #expect(Self.isUnavailable(failure))
            let trouble = try await server.trouble()
            #expect(trouble?.contains("with that database") == true, "\(trouble ?? "")")
        }
        try await fleet.start(0)
        for server in 0..<2 {
            let client = try fleet.client(server)
            _ = try await answers(to: requests[0], by: client)
            for request in requests {
                let verdicts = try await client.submit(request, from: devices[devices.count - 1])
                for intent in request { #expect(verdicts[intent.id] == before[intent.id]) }
            }
            for device in devices {
                let page = try await client.changes(after: device)
                #expect(page.lineage == device.lineage && page.through >= device.through)
            }
            #expect(try await fleet.pages(server, after: devices[devices.count - 1]).events == [])
        }
        #expect(try await fleet.pages(0).events == fleet.pages(1).events)
        // New intents are decided on the same state: these keys are there.
        let more = try (1...2).map { number in
            try Submission(
                UInt64(1_000 + number), of: "r",
                .set("key \(number)", 0, require: number == 1 ? .present : .absent))
        }
        let verdicts = try await answers(to: more, by: fleet.client(1))
        guard case .accepted? = verdicts[more[0].id], case .rejected? = verdicts[more[1].id] else {
            Issue.record("\(verdicts)")
            return
        }
    }

    @Test func `a move into a table that has the space already says so`() async throws {
        let cluster = try await Cluster()
        let fleet = try await Fleet(cluster.conninfo)
        _ = try await answers(to: intents(1...3), by: fleet.client(1))
        try await fleet.kill(0)
        try await embedded(on: fleet) { _, client in
            _ = try await client.submit(intents(1...3, of: "other"), from: .beginning)
        }
        let end = try await fleet.command("move", "main")
        #expect(end.status == 1)
        #expect(end.errors.contains("the table has another decision of main at 1"), "\(end.errors)")
        // Nor does a server with PostgreSQL take the folder's decisions for a copy.
        try await fleet.start(0)
        let (client, probe) = (try fleet.client(0), try intents(4...4))
        let failure = await failure { () throws(AuthorityFailure) in
            _ = try await client.submit(probe, from: .beginning)
        }
        #expect(Self.isUnavailable(failure), "\(failure.map { "\($0)" } ?? "served")")
        let trouble = try await fleet.trouble(0)
        #expect(trouble?.contains("move them with the command 'move'") == true, "\(trouble ?? "")")
    }

    // MARK: Words

    @Test func `the role of a server may do no more than it needs`() async throws {
        let cluster = try await Cluster()
        let rights = try await cluster.query(
            """
            SELECT privilege_type FROM information_schema.role_table_grants \
            WHERE grantee = 'foldback_server' ORDER BY 1
            """)
        #expect(rights == [["INSERT"], ["SELECT"]])
    }

    @Test func `a database that cannot be used is named with what to do`() async throws {
        let cluster = try await Cluster()
        _ = try await cluster.query("CREATE DATABASE empty")
        _ = try await cluster.query("CREATE ROLE poor LOGIN")
        for (part, replacement, words) in [
            ("dbname=foldback", "dbname=empty", "run foldback.sql"),
            ("user=foldback_server", "user=poor", "the end of foldback.sql"),
            ("dbname=foldback", "dbname=none", "\"none\" does not exist"),
            ("user=foldback_server", "user=nobody_there", "nobody_there"),
            ("host=", "host=/none", "No such file"),
        ] {
            let conninfo = cluster.conninfo.replacing(part, with: replacement, maxReplacements: 1)
            let fleet = try await Fleet(conninfo, count: 1)
            let (client, probe) = (try fleet.client(0), try intents(1...1))
            let failure = await failure { () throws(AuthorityFailure) in
                _ = try await client.submit(probe, from: .beginning)
            }
            #expect(Self.isUnavailable(failure), "\(failure.map { "\($0)" } ?? "served")")
            let trouble = try await fleet.trouble(0)
            #expect(trouble?.contains(words) == true, "\(trouble ?? "nothing")")
            let end = try await fleet.command("new-lineage", "main")
            #expect(end.status == 1 && end.errors.contains(words), "\(end.errors)")
        }
    }
}
