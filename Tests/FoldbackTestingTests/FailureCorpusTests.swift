import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// A failure that was found once must be found in every later run.
@Suite(.serialized) struct FailureCorpusTests {
    enum Event: Codable, Hashable, Sendable { case added(Int) }

    private struct Sum: Projection, Codable, Equatable {
        typealias Event = FailureCorpusTests.Event
        static var name: String { "Sum" }
        var sum = 0

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            let number =
                switch event {
                case .added(let number): number
                }
            sum += number
            guard sum < 7 else { throw TooMuch() }
        }
    }

    private struct FixedSum: Projection, Codable, Equatable {
        typealias Event = FailureCorpusTests.Event
        static var name: String { "Sum" }
        var sum = 0

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            let number =
                switch event {
                case .added(let number): number
                }
            guard sum + number < 7 else { throw TooMuch() }
            sum += number
        }
    }

    private struct TooMuch: Error {}

    private static let events = Generator<Event>.making(Event.added, .integers(in: 0...9))

    private func report<P: Projection>(
        of projection: P.Type, _ folder: URL, _ laws: Set<Law> = [.f9], scripts: Int
    ) async -> LawReport where P.Event == Event {
        await checkLaws(
            of: projection, events: Self.events, laws: laws,
            effort: Effort(
                scriptsMax: scripts, durationMax: nil, stepsMax: 20, candidatesMax: 1_000,
                stepMax: .seconds(5)),
            failures: .folder(folder))
    }

    @Test func `a failing script is kept, and runs first the next time`() async throws {
        let directory = TemporaryDirectory()
        let first = await report(of: Sum.self, directory.url, scripts: 1_000)
        let finding = try #require(first.findings.first)
        #expect(finding.scriptsTried > 0)
        let folder = directory.url.appending(path: Sum.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 1 && names[0].hasPrefix("F9-"))

        let again = await report(of: Sum.self, directory.url, scripts: 0)
        let kept = try #require(again.findings.first)
        #expect(kept.shrinking == .given && kept.scriptsTried == 0)
        #expect(kept.statement == finding.statement && kept.ndjson == finding.ndjson)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == names)

        let fixed = await report(of: FixedSum.self, directory.url, scripts: 100)
        #expect(fixed.isClean && fixed.held == [.f9])
    }

    @Test func `a kept file that cannot be read is reported`() async throws {
        let directory = TemporaryDirectory()
        let folder = directory.url.appending(path: Sum.name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("{\"kind\":\"intent\",\"event\":{\"gone\":{}}}\n".utf8)
            .write(to: folder.appending(path: "F9-old.ndjson"))
        let other = await report(of: FixedSum.self, directory.url, scripts: 5)
        #expect(other.isClean && other.unchecked.contains { $0.reason.contains("F9-old.ndjson") })
        let report = await report(of: FixedSum.self, directory.url, [.p11], scripts: 5)
        #expect(report.findings.map(\.law) == [.p11])
        #expect(report.findings[0].statement.contains("F9-old.ndjson cannot be read any more"))
    }

    @Test func `a kept file without an end is reported`() async throws {
        let directory = TemporaryDirectory()
        let folder = directory.url.appending(path: Sum.name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: "F9-zero.ndjson").path, withDestinationPath: "/dev/zero")
        let report = await report(of: FixedSum.self, directory.url, scripts: 5)
        #expect(report.unchecked.contains { $0.reason.contains("has more than 67108864 bytes") })
    }
}
