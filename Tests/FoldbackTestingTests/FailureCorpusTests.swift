import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// A failure that was found once must not be found again by luck only.
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

    private struct MendedSum: Projection, Codable, Equatable {
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
        of projection: P.Type, _ folder: URL, _ laws: Set<Law> = [.f9], histories: Int
    ) async -> LawReport where P.Event == Event {
        await checkLaws(
            of: projection, events: Self.events, laws: laws,
            effort: Effort(
                historiesMax: histories, durationMax: nil, stepsMax: 20, candidatesMax: 1_000,
                stepMax: .seconds(5)),
            failures: .folder(folder))
    }

    @Test func `what failed is kept, and tried first the next time`() async throws {
        let directory = TemporaryDirectory()
        let first = await report(of: Sum.self, directory.url, histories: 1_000)
        let finding = try #require(first.findings.first)
        #expect(finding.historiesTried > 0)
        let folder = directory.url.appending(path: Sum.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 1 && names[0].hasPrefix("F9-"))

        let again = await report(of: Sum.self, directory.url, histories: 0)
        let kept = try #require(again.findings.first)
        #expect(kept.shrinking == .given && kept.historiesTried == 0)
        #expect(kept.statement == finding.statement && kept.ndjson == finding.ndjson)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == names)

        let mended = await report(of: MendedSum.self, directory.url, histories: 100)
        #expect(mended.isClean && mended.held == [.f9])
    }

    @Test func `a kept file that cannot be read any more is said`() async throws {
        let directory = TemporaryDirectory()
        let folder = directory.url.appending(path: Sum.name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("{\"kind\":\"intent\",\"event\":{\"gone\":{}}}\n".utf8)
            .write(to: folder.appending(path: "F9-old.ndjson"))
        let other = await report(of: MendedSum.self, directory.url, histories: 5)
        #expect(other.isClean && other.unchecked.contains { $0.reason.contains("F9-old.ndjson") })
        let report = await report(of: MendedSum.self, directory.url, [.p11], histories: 5)
        #expect(report.findings.map(\.law) == [.p11])
        #expect(report.findings[0].statement.contains("F9-old.ndjson cannot be read any more"))
    }
}
