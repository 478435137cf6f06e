import Foldback
import FoldbackSync

/// Checks by its behavior alone that a server keeps A1 to A4 and N6 (see ``/FoldbackSync/Authority``).
///
/// A5 is the device's promise. That a rejected intent could never have passed (A4), no exchange shows.
///
/// ```swift
/// let report = await checkAuthority(client, samples: samples)
/// #expect(report.isClean, "\(report)")
/// ```
/// The authority is the client of one account. The checks use fresh replica ids, send about 950 intents,
/// and leave their effects on the server, so do not run it on data that people use. Several runs may use one server,
/// one after another.
///
/// - Parameters:
///   - authority: the client of the server.
///   - samples: the events to send.
///   - seed: numbers the samples. Two runs with one seed send the same events under other ids.
///   - sources: the source of time, and of waits between attempts.
/// - Returns: which checks passed and failed. A check that fails shows its requests and answers.
public func checkAuthority<Event: Sendable>(
    _ authority: any Authority<Event>, samples: AuthoritySamples<Event>, seed: UInt64? = nil,
    sources: SyncSources = .system
) async -> AuthorityReport {
    let seed = seed ?? System.freshSeed()
    var report = AuthorityReport(seed: seed)
    let first = Int(seed % 1_000_000_000) * 10_000
    for (index, check) in AuthorityCheck<Event>.all.enumerated() {
        if let needs = check.needs(samples) {
            report.skipped.append("\(check.name): \(needs)")
            continue
        }
        let exchange = Exchange(
            authority, samples, sample: first + 400 * index, sources,
            freshReplica: LogSources.system.freshReplica)
        do throws(Broken) {
            try await exchange.begin()
            try await check.run(exchange)
            report.passed.append(check.name)
        } catch  where error.isOptional {
            report.skipped.append("\(check.name): \(error.what)")
        } catch {
            report.findings.append(
                AuthorityReport.Finding(
                    check: check.name, what: error.what, remedy: check.remedy,
                    exchange: exchange.lines))
        }
    }
    return report
}

/// One check: the shortest exchange that shows a fault.
struct AuthorityCheck<Event: Sendable> {
    /// The law, and what must hold.
    let name: String
    let remedy: String
    /// What the samples must have for it; nil if they have it.
    var needs: (AuthoritySamples<Event>) -> String? = { _ in nil }
    let run: (Exchange<Event>) async throws(Broken) -> Void

    static var all: [AuthorityCheck] { repetition + delivery + positions + finality + lineages }
}
