import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

// Article: the projection
struct Notes: Projection, Codable, Equatable {
    enum Event: Codable, Sendable {
        case wrote(title: String)
        case edited(title: String, text: String)
    }

    struct Note: Codable, Equatable, Sendable {
        var text = ""
        var editedAt: Date?
    }

    struct NoSuchNote: Error {}

    var notes: [String: Note] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .wrote(let title): notes[title] = Note()
        case .edited(let title, let text):
            guard notes[title] != nil else { throw NoSuchNote() }
            notes[title] = Note(text: text, editedAt: Date())
        }
    }
}
// Article: end

// Article: the generator
extension Notes {
    static let events = Generator<Event>.oneOf(
        .making(Event.wrote, titles), .making(Event.edited, titles, .strings()))

    /// Few titles, so events touch the same notes.
    static let titles = Generator<String>.element(of: ["a", "b"])
}
// Article: end

// Article: the fixed projection
struct TimedNotes: Projection, Codable, Equatable {
    enum Event: Codable, Equatable, Sendable {
        case wrote(title: String)
        case edited(title: String, text: String, at: Date)
    }

    var notes: [String: Notes.Note] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .wrote(let title): notes[title] = Notes.Note()
        case .edited(let title, let text, let date):
            guard notes[title] != nil else { throw Notes.NoSuchNote() }
            notes[title] = Notes.Note(text: text, editedAt: date)
        }
    }

    static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
        switch event {
        case .wrote(let title), .edited(let title, _, _): [title]
        }
    }

    static let events = Generator<Event>.oneOf(
        .making(Event.wrote, Notes.titles),
        .making(Event.edited, Notes.titles, .strings(), dates))

    static let dates = Generator<Int>.integers(in: 0...1_000_000).map {
        Date(timeIntervalSince1970: Double($0))
    }
}
// Article: end

struct Inbox: StoredProjection {
    enum Event: Codable, Equatable, Sendable {
        case received(text: String)
        case read(id: String)
    }

    struct Message: Codable, Equatable, Sendable {
        let text: String
        var isRead = false
    }

    static let messages = RowTable("messages", key: String.self, row: Message.self)
    static let unread = messages.index("unread") { id, message in message.isRead ? nil : id }
    static let schema = RowSchema(messages, unread)

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .received(let text):
            try rows.insert(Message(text: text), at: context.id(), in: messages)
        case .read(let id): try rows.update(id, in: messages) { $0.isRead = true }
        }
    }

    static let events = Generator<Event>.oneOf(
        .making(Event.received, .strings()),
        .making(Event.read, .element(of: ["me.1.0", "me.2.0"])))
}

/// The tests of the article that take long, and find nothing that other tests do not find: the article
/// extends the first itself, and EffortTests checks rows of two tables with the default effort. So
/// they run from the middle effort up.
@Suite(.enabled(if: TestEffort.current != .quick, "other tests check the same and more"))
struct LongArticleTests {
    // Article: the test
    @Test func `notes keep the laws`() async throws {
        try await requireLaws(
            of: TimedNotes.self, events: TimedNotes.events, itemIDs: ItemIDs(\.notes.keys))
    }
    // Article: end

    // Article: the test of rows
    @Test func `the inbox keeps the laws`() async throws {
        try await requireLaws(
            of: Inbox.self, events: Inbox.events, rowIDs: ItemIDs(keysOf: Inbox.messages))
    }
    // Article: end
}

/// The code and the report in the article must compile, run, and be up to date.
@Suite struct ArticleTests {
    // Article: what the scripts reached
    @Test func `notes keep the laws, also after retries`() async throws {
        try await requireLaws(
            of: TimedNotes.self, events: TimedNotes.events, itemIDs: ItemIDs(\.notes.keys),
            coverage: Coverage(requiring: ["retry of rejected", "edited a note"]) { script in
                let isEdit = { (event: TimedNotes.Event) in
                    if case .edited = event { true } else { false }
                }
                return script.recordedEvents.contains(where: isEdit) ? ["edited a note"] : []
            })
    }
    // Article: end

    /// The report's test, with other line ends.
    @Test func `Notes: determinism, here`() async throws {
        let script = Script<Notes.Event>(
            .downlink,
            [
                .record(.wrote(title: "a")),
                .record(.edited(title: "a", text: "")),
            ])
        await #expect(throws: LawsBroken.self) {
            try await requireLaw(.p1, of: Notes.self, for: script)
        }
    }

    @Test func `a projection that reads the clock is found with two events`() async throws {
        let report = await checkLaws(
            of: Notes.self, events: Notes.events, seed: 7, failures: .forgotten)
        let finding = try #require(report.findings.first)
        #expect(finding.law == .p1)
        #expect(finding.stepCount == 2)
        let article = try Self.article()
        // The report without its seed, counts and times.
        for line in "\(finding)".split(separator: "\n")
        where !line.contains("editedAt") && !line.contains("candidates") {
            #expect(article.contains(line), "\(line)")
        }
        print(report)
    }

    @Test func `the article shows the lines of a run that checks too little`() async throws {
        var effort = Effort.standard
        effort.durationMax = .zero
        let report = await checkLaws(
            of: TimedNotes.self, events: TimedNotes.events, effort: effort, failures: .forgotten)
        #expect(report.shortfalls.count == 2)
        let article = try Self.article()
        for line in report.shortfalls {
            let shown =
                line
                .replacing("0 of 200 scripts and 0 of 50 fleets", with: "120 of 200 scripts")
                .replacing("0.0 seconds", with: "60.0 seconds")
            #expect(article.contains("laws of TimedNotes: \(shown)\n"), "\(shown)")
        }
    }

    @Test func `the article shows exactly this code`() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let article = try Self.article()
        let parts = source.components(separatedBy: "// Article: ").dropFirst()
            .filter { !$0.hasPrefix("end\n") && $0.contains("\n") && !$0.hasPrefix("\")") }
        #expect(parts.count >= 6)
        for part in parts.prefix(6) {
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            let indent = lines.first?.prefix { $0 == " " }.count ?? 0
            let code = lines.map {
                String($0.dropFirst(min(indent, $0.prefix { $0 == " " }.count)))
            }
            .joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(article.contains(code), "\(code)")
        }
    }

    private static func article() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = "Sources/FoldbackTesting/FoldbackTesting.docc/TestYourProjection.md"
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
