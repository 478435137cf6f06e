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

    @Test func `authorities of FoldbackSync and FoldbackServer pass`() async throws {
        let memory = InProcessAuthority(Board.self) { intent, _ in
            guard case .set("double", let value) = intent.event else { return .accept }
            return .reword(.set("double", 2 * value))
        }
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
                #expect(report.isClean && report.passed.count == 16, "\(report)")
            }
        }
        await space.close()
        await spaces.close()
    }

    @Test(arguments: FlawedServer.Flaw.allCases)
    func `each flaw is found by the check that names it`(flaw: FlawedServer.Flaw) async throws {
        guard let check = flaw.check else { return }
        let server = FlawedServer(flaw)
        let report = await checkAuthority(server, samples: Self.samples, seed: 1)
        let finding = try #require(
            report.findings.first { $0.check == check }, "\(flaw): \(report)")
        print("\(flaw.rawValue): \(finding)")
        #expect(!finding.exchange.isEmpty && !finding.remedy.isEmpty)
    }

    @Test func `what the samples cannot show is named`() async {
        let samples = AuthoritySamples<Move>(codec: Board.codec) { .set("cell\($0)", $0) }
        let report = await checkAuthority(FlawedServer(.none), samples: samples, seed: 1)
        #expect(report.isClean && report.skipped.count == 3)
        #expect(report.description.contains("not checked: A1: a rejection is remembered: samples"))
    }
}
