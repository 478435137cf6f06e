import Foldback
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import TestSupport
import Testing

/// Question: does the suite pass every sound server, and find each flaw by the check that names it?
@Suite struct CheckAuthorityTests {
    static let samples = AuthoritySamples<Move>(codec: Board.codec) { .set("cell\($0)", $0) }
        .refusing({ .add("absent\($0)", 1) }, until: { .set("absent\($0)", 1) })
        .rewording { .set("double", $0) }
        .postponing({ .add("waits\($0)", 1) }, until: { .set("waits\($0)", 1) })

    /// An authority in memory with a ruling for each sample.
    static func memory() -> InProcessAuthority<Board> {
        InProcessAuthority(Board.self) { intent, board in
            switch intent.event {
            case .set("double", let value): .reword(.set("double", 2 * value))
            case .add(let key, _) where key.hasPrefix("waits") && board.cells[key] == nil:
                .later(after: nil, reason: "not yet")
            default: .accept
            }
        }
    }

    /// Waits for nothing.
    private static let sleepless: SyncSources = {
        var sources = SyncSources.system
        sources.sleep = { _ in }
        return sources
    }()

    @Test func `authorities of FoldbackSync and FoldbackServer pass`() async throws {
        let memory = Self.memory()
        let directory = TemporaryDirectory()
        let space = try await Space.open(at: directory.url, rules: BoardRules())
        let folder = TemporaryDirectory()
        let spaces = Spaces(in: folder.url, rules: BoardRules())
        let authorities: [any Authority<Move>] = [
            memory, space.authority(for: .ann), spaces.authority(for: .ann, in: .main),
            FlawedServer(.none),
        ]
        for authority in authorities {
            // Twice: the second run meets the data of the first.
            for seed in [1, 2] as [UInt64] {
                let report = await checkAuthority(authority, samples: Self.samples, seed: seed)
                #expect(report.isClean, "\(report)")
                // The authority in memory has no digests.
                #expect(report.passed.count + report.skipped.count == 19, "\(report)")
                #expect(report.skipped.isEmpty == !(authority is InProcessAuthority<Board>))
            }
        }
        await space.close()
        await spaces.close()
    }

    /// A sound server that takes its time: its readers are one request behind, and it postpones each request
    /// once.
    private actor SlowServer: Authority {
        typealias Event = Move

        private let server = FlawedServer(.none)
        private var shown: Position = 0
        private var seen: Set<IntentID> = []

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> {
            // It compares what the device knows before all else.
            let page = try await server.changes(after: device)
            guard let first = intents.first, !seen.insert(first.id).inserted else {
                let later = Verdict<Move>.later(after: .milliseconds(1), reason: "not yet")
                return Verdicts(
                    Dictionary(uniqueKeysWithValues: intents.map { ($0.id, later) }),
                    lineage: page.lineage, head: page.head)
            }
            return try await server.submit(intents, from: device)
        }

        func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
            let page = try await server.changes(after: device)
            let through = max(device.through, min(page.through, shown))
            shown = page.head ?? 0
            return Changes(
                events: page.events.filter { $0.position <= through }, through: through,
                hasMore: false, lineage: page.lineage, head: page.head)
        }
    }

    @Test func `a sound server that is slow passes`() async {
        let report = await checkAuthority(
            SlowServer(), samples: Self.samples, seed: 1, sources: Self.sleepless)
        #expect(report.isClean, "\(report)")
    }

    @Test(arguments: FlawedServer.Flaw.allCases)
    func `each flaw is found by the check that names it`(flaw: FlawedServer.Flaw) async throws {
        guard let check = flaw.check else { return }
        let server = FlawedServer(flaw)
        let report = await checkAuthority(
            server, samples: Self.samples, seed: 1, sources: Self.sleepless)
        let finding = try #require(
            report.findings.first { $0.check == check }, "\(flaw): \(report)")
        print("\(flaw.rawValue): \(finding)")
        #expect(!finding.exchange.isEmpty && !finding.remedy.isEmpty)
        // A server without a lineage breaks nothing else.
        if flaw == .noLineage { #expect(report.findings.count == 1, "\(report)") }
    }

    @Test func `what the samples cannot show is named`() async {
        let samples = AuthoritySamples<Move>(codec: Board.codec) { .set("cell\($0)", $0) }
        let report = await checkAuthority(FlawedServer(.none), samples: samples, seed: 1)
        #expect(report.isClean && report.skipped.count == 4)
        #expect(report.description.contains("not checked: A1: a rejection is remembered: samples"))
    }
}
