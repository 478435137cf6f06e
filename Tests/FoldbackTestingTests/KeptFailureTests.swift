import Foldback
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A failure that was found once must not be found again by luck only.
@Suite(.serialized) struct KeptFailureTests {
    enum Event: Codable, Hashable, Sendable { case added(Int) }

    /// Whether the projection has its fault.
    private static let isBroken = Mutex(true)

    private struct Sum: Projection, Codable, Equatable {
        typealias Event = KeptFailureTests.Event
        var sum = 0

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            let number =
                switch event {
                case .added(let number): number
                }
            if KeptFailureTests.isBroken.withLock({ $0 }) { sum += number }
            if sum >= 7 { throw TooMuch() }
            if !KeptFailureTests.isBroken.withLock({ $0 }) { sum += number }
        }
    }

    private struct TooMuch: Error {}

    private static let events = Generator<Event>.making(Event.added, .integers(in: 0...9))

    private func report(
        _ folder: URL, _ laws: Set<Law> = [.f9], histories: Int
    ) async -> LawReport {
        await checkLaws(
            of: Sum.self, events: Self.events, laws: laws,
            effort: Effort(
                historiesMax: histories, durationMax: nil, stepsMax: 20, candidatesMax: 1_000),
            failures: .folder(folder))
    }

    @Test func `what failed is kept, and tried first the next time`() async throws {
        let directory = TemporaryDirectory()
        Self.isBroken.withLock { $0 = true }
        let first = await report(directory.url, histories: 1_000)
        let finding = try #require(first.findings.first)
        #expect(finding.historiesTried > 0)
        let folder = directory.url.appending(path: "Sum")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 1 && names[0].hasPrefix("F9-"))

        let again = await report(directory.url, histories: 0)
        let kept = try #require(again.findings.first)
        #expect(kept.shrinking == .given && kept.historiesTried == 0)
        #expect(kept.statement == finding.statement && kept.ndjson == finding.ndjson)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == names)

        Self.isBroken.withLock { $0 = false }
        let mended = await report(directory.url, histories: 100)
        #expect(mended.isClean && mended.held == [.f9])
    }

    @Test func `a kept file that cannot be read any more is said`() async throws {
        let directory = TemporaryDirectory()
        Self.isBroken.withLock { $0 = false }
        let folder = directory.url.appending(path: "Sum")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("{\"kind\":\"intent\",\"event\":{\"gone\":{}}}\n".utf8)
            .write(to: folder.appending(path: "F9-old.ndjson"))
        let other = await report(directory.url, histories: 5)
        #expect(other.isClean && other.unchecked.contains { $0.reason.contains("F9-old.ndjson") })
        let report = await report(directory.url, [.p11], histories: 5)
        #expect(report.findings.map(\.law) == [.p11])
        #expect(report.findings[0].statement.contains("F9-old.ndjson cannot be read any more"))
    }
}
