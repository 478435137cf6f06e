import Foldback
import Foundation
import TestSupport
import Testing

@testable import FoldbackTesting

/// Question: does `checkEvolution` accept the changes that the article "Changing your events" allows,
/// and find all others?
///
/// The files in `Samples` are of three apps over three versions, as each version wrote them.
@Suite struct SampleTests {
    private let directory = TemporaryDirectory()

    private static func fixture(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Samples/\(name).samples")
    }

    private func check<V: AppVersion>(
        _: V.Type, at url: URL? = nil, isRecording: Bool = true
    ) throws {
        let file = url ?? directory.log.appendingPathExtension("samples")
        if V.hasRows {
            try checkEvolution(
                of: RowsOf<V>.self, events: V.events, samples: file, isRecording: isRecording)
        } else {
            try checkEvolution(
                of: ValueOf<V>.self, events: V.events, samples: file, isRecording: isRecording)
        }
    }

    /// Checks that the versions write the file of the fixture, and that the last one reads it.
    private func check<A: AppVersion, B: AppVersion, C: AppVersion>(
        _ name: String, _: A.Type, _: B.Type, _: C.Type
    ) throws {
        try check(A.self)
        try check(B.self)
        try check(C.self)
        let written = try String(
            contentsOf: directory.log.appendingPathExtension("samples"), encoding: .utf8)
        let kept = (try? String(contentsOf: Self.fixture(name), encoding: .utf8)) ?? ""
        if kept != written { Issue.record("the samples of \(name) are now:\n\(written)") }
        try check(C.self, at: Self.fixture(name), isRecording: false)
    }

    private func finding(_ body: () throws -> Void) throws -> String {
        do {
            try body()
            return ""
        } catch let error as EvolutionBroken { return error.description }
    }

    // MARK: Three apps over three versions

    @Test func `a new member of an event, a case renamed by its key, and a new case`() throws {
        try check("likes", Likes1.self, Likes2.self, Likes3.self)
    }

    @Test func `a new member of rows, and a member that events drop`() throws {
        try check("shelf", Shelf1.self, Shelf2.self, Shelf3.self)
    }

    @Test func `a codec of the app's own, with a field at the end and then in another format`()
        throws
    {
        try check("steps", Steps1.self, Steps2.self, Steps3.self)
    }

    // MARK: What is found

    @Test func `a new member without a higher version is found`() throws {
        try check(Likes1.self)
        let finding = try finding { try check(LikesHasty.self) }
        #expect(finding.contains("has the new member /liked/mood"))
        #expect(finding.contains("raise the version of the codec"))
        #expect(try self.finding { try check(Likes1.self) } == "")
    }

    @Test func `a changed reading is found, with the sample`() throws {
        try check(Likes1.self)
        let finding = try finding { try check(LikesShouting.self) }
        #expect(finding.contains("is read in another way at /liked/post"))
    }

    @Test func `a sample that cannot be read is found`() throws {
        try check(Likes2.self)
        let finding = try finding { try check(LikesForgetful.self) }
        #expect(finding.contains("cannot be read any more"))
    }

    @Test func `a version that went down is found`() throws {
        try check(Likes2.self)
        let finding = try finding { try check(Likes1.self) }
        #expect(finding.contains("a version never goes down"))
    }

    @Test func `the name of a dropped member is found when it comes back`() throws {
        try check(Shelf1.self)
        try check(Shelf3.self)
        let finding = try finding { try check(ShelfReviving.self) }
        #expect(finding.contains("/put/color of the event is the name of a member that version 1"))
    }

    @Test func `C6: a raised version that says nothing of earlier versions is found`() throws {
        try check(Shelf1.self)
        let finding = try finding { try check(ShelfSilent.self) }
        #expect(
            finding.contains("earlierVersions does not say what becomes of version 1"),
            "\(finding)")
    }

    @Test func `C6: what is adopted and cannot be read is found`() throws {
        try check(Shelf1.self)
        let finding = try finding { try check(ShelfBlind.self) }
        #expect(finding.contains("the row of items of version 1"), "\(finding)")
        #expect(finding.contains("cannot be read any more"))
    }

    @Test func `C6: a member that is not adopted with the state is found`() throws {
        try check(Likes1.self)
        let finding = try self.finding { try check(LikesNarrow.self) }
        #expect(finding.contains("does not read /state/likes of the state"), "\(finding)")
    }

    @Test func `a missing sample is found where nothing is recorded`() throws {
        let finding = try finding { try check(Likes1.self, isRecording: false) }
        #expect(finding.contains("no sample of the event of version 1"))
        try check(Likes1.self)
        #expect(try self.finding { try check(Likes2.self, isRecording: false) } != "")
        #expect(try self.finding { try check(Likes1.self, isRecording: false) } == "")
    }

    @Test func `a member of a case that had none is found`() throws {
        try check(Likes1.self)
        let finding = try finding { try check(LikesClearing.self) }
        #expect(finding.contains("has the new member /cleared/by"))
    }

    @Test func `sets are read as before in any order`() throws {
        try check(Tags.self)
        for _ in 1...3 { try check(Tags.self) }
        #expect(
            EvolutionReading.change(
                from: ["tags": ["a", "b", ["c": 1]]], to: ["tags": [["c": 1], "b", "a"]]) == nil)
        #expect(
            "\(EvolutionReading.change(from: ["tags": ["a", "b"]], to: ["tags": ["b", "c"]])!)"
                == "/tags/0")
    }

    @Test func `a codec that takes over from JSON reads its samples`() throws {
        try check(Steps0.self)
        try check(StepsPacked.self)
        try check(StepsPacked.self)
    }

    @Test func `a damaged file is named, and stays as it is`() throws {
        try check(Likes1.self)
        let file = directory.log.appendingPathExtension("samples")
        let text = try String(contentsOf: file, encoding: .utf8) + "{}\n"
        try text.write(to: file, atomically: true, encoding: .utf8)
        do {
            try check(Likes1.self)
            Issue.record("the file was read")
        } catch let error as EvolutionSamples.Damaged {
            #expect("\(error)".contains("cannot be read as a sample"))
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
}

// MARK: The apps

/// One version of an app.
private protocol AppVersion: Sendable {
    associatedtype Event: Sendable
    associatedtype State: Codable & Sendable
    static var codec: any EventCodec<Event> { get }
    static var version: UInt32 { get }
    static var adopted: [UInt32] { get }
    static var refolded: [UInt32] { get }
    static var hasRows: Bool { get }
    static var events: Generator<Event> { get }
    static func state(after event: Event, _ state: State?) -> State
}

extension AppVersion {
    static var version: UInt32 { 1 }
    static var adopted: [UInt32] { [] }
    static var refolded: [UInt32] { [] }
    static var hasRows: Bool { false }

    static func earlierVersions<P: EventFold>(of _: P.Type) -> [EarlierVersion<P>] {
        adopted.map { .adopted($0) } + refolded.map { .refolded($0) }
    }
}

private struct ValueOf<V: AppVersion>: Projection, Codable {
    var state: V.State?
    static var name: String { "App" }
    static var version: UInt32 { V.version }
    static var earlierVersions: [EarlierVersion<Self>] { V.earlierVersions(of: Self.self) }
    static var codec: any EventCodec<V.Event> { V.codec }
    mutating func apply(_ event: V.Event, _ context: EventContext) {
        state = V.state(after: event, state)
    }
}

private struct RowsOf<V: AppVersion>: StoredProjection {
    static var name: String { "App" }
    static var version: UInt32 { V.version }
    static var earlierVersions: [EarlierVersion<Self>] { V.earlierVersions(of: Self.self) }
    static var codec: any EventCodec<V.Event> { V.codec }
    static var table: RowTable<Int, V.State> { RowTable("items") }
    static var schema: RowSchema { RowSchema(table) }
    static func apply(
        _ event: V.Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        try rows.put(V.state(after: event, try rows.get(1, in: table)), at: 1, in: table)
    }
}

private struct Count: Codable, Sendable { var likes: Int }

/// What the versions of the app of likes share.
private protocol LikesVersion: AppVersion where State == Count {}
extension LikesVersion {
    static func state(after event: Event, _ state: Count?) -> Count {
        Count(likes: min((state?.likes ?? 0) + 1, 9))
    }
}

private enum Likes1: LikesVersion {
    enum Event: Codable, Sendable { case liked(post: String), cleared }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let events = Generator<Event>.oneOf(
        .making(Event.liked, .element(of: ["a", "b"])), .constant(.cleared))
}

private enum Likes2: LikesVersion {
    enum Event: Codable, Sendable { case liked(post: String, mood: String?), cleared }
    static var codec: any EventCodec<Event> { JSONCodec(version: 2) }
    static let events = Generator<Event>.oneOf(
        .making(
            Event.liked, .element(of: ["a", "b"]), .element(of: [nil, "glad"] as [String?])),
        .constant(.cleared))
}

private enum Likes3: LikesVersion {
    enum Event: Codable, Sendable {
        case hearted(post: String, mood: String?), cleared, hidden
        private enum CodingKeys: String, CodingKey {
            case hearted = "liked"
            case cleared, hidden
        }
    }
    static var codec: any EventCodec<Event> { JSONCodec(version: 2) }
    static let events = Generator<Event>.oneOf(
        .making(
            Event.hearted, .element(of: ["a", "b"]), .element(of: [nil, "glad"] as [String?])),
        .constant(.cleared), .constant(.hidden))
}

/// It forgets to raise the version.
private enum LikesHasty: LikesVersion {
    typealias Event = Likes2.Event
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let events = Likes2.events
}

/// It reads old events in another way.
private enum LikesShouting: LikesVersion {
    enum Event: Codable, Sendable {
        case liked(post: String), cleared
        init(from decoder: any Decoder) throws {
            switch try Likes1.Event(from: decoder) {
            case .liked(let post): self = .liked(post: post.uppercased())
            case .cleared: self = .cleared
            }
        }
    }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let events = Generator<Event>.oneOf(
        .making(Event.liked, .element(of: ["a", "b"])), .constant(.cleared))
}

/// It renames a case without its old key.
private enum LikesForgetful: LikesVersion {
    enum Event: Codable, Sendable { case hearted(post: String), cleared }
    static var codec: any EventCodec<Event> { JSONCodec(version: 2) }
    static let events = Generator<Event>.oneOf(
        .making(Event.hearted, .element(of: ["a", "b"])), .constant(.cleared))
}

/// It gives a case its first member.
private enum LikesClearing: LikesVersion {
    enum Event: Codable, Sendable { case liked(post: String), cleared(by: String?) }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let events = Generator<Event>.oneOf(
        .making(Event.liked, .element(of: ["a", "b"])),
        .making(Event.cleared, .element(of: [nil, "ann"] as [String?])))
}

private enum Tags: LikesVersion {
    enum Event: Codable, Sendable { case tagged(Set<String>) }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let events = Generator<Event>.constant(.tagged(["a", "b", "c", "d", "e"]))
}

private enum Shelf1: AppVersion {
    enum Event: Codable, Sendable { case put(name: String, color: String) }
    struct State: Codable, Sendable { var name: String }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let hasRows = true
    static let events = Generator<Event>.making(
        Event.put, .element(of: ["cup", "pen"]), .element(of: ["red", "blue"]))
    static func state(after event: Event, _ state: State?) -> State {
        switch event {
        case .put(let name, _): State(name: name)
        }
    }
}

private enum Shelf2: AppVersion {
    typealias Event = Shelf1.Event
    struct State: Codable, Sendable { var name: String, color: String? }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let version: UInt32 = 2
    static let adopted: [UInt32] = [1]
    static let hasRows = true
    static let events = Shelf1.events
    static func state(after event: Event, _ state: State?) -> State {
        switch event {
        case .put(let name, let color): State(name: name, color: color)
        }
    }
}

private enum Shelf3: AppVersion {
    enum Event: Codable, Sendable { case put(name: String) }
    typealias State = Shelf1.State
    static var codec: any EventCodec<Event> {
        JSONCodec(version: 2, ignoredMembers: ["/put/color"])
    }
    static let version: UInt32 = 3
    static let adopted: [UInt32] = [1]
    static let refolded: [UInt32] = [2]
    static let hasRows = true
    static let events = Generator<Event>.making(Event.put, .element(of: ["cup", "pen"]))
    static func state(after event: Event, _ state: State?) -> State {
        switch event {
        case .put(let name): State(name: name)
        }
    }
}

/// It uses the name of a dropped member again.
private enum ShelfReviving: AppVersion {
    enum Event: Codable, Sendable { case put(name: String, color: Int?) }
    typealias State = Shelf1.State
    static var codec: any EventCodec<Event> { JSONCodec(version: 3) }
    static let version: UInt32 = 4
    static let refolded: [UInt32] = [1, 2, 3]
    static let hasRows = true
    static let events = Generator<Event>.making(
        Event.put, .element(of: ["cup", "pen"]), .element(of: [nil, 1] as [Int?]))
    static func state(after event: Event, _ state: State?) -> State {
        switch event {
        case .put(let name, _): State(name: name)
        }
    }
}

/// It does not say what becomes of the rows of version 1.
private enum ShelfSilent: AppVersion {
    typealias Event = Shelf1.Event
    typealias State = Shelf1.State
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let version: UInt32 = 2
    static let hasRows = true
    static let events = Shelf1.events
    static func state(after event: Event, _ state: State?) -> State {
        Shelf1.state(after: event, state)
    }
}

/// It adopts rows that it cannot read.
private enum ShelfBlind: AppVersion {
    typealias Event = Shelf1.Event
    struct State: Codable, Sendable { var title: String }
    static var codec: any EventCodec<Event> { JSONCodec() }
    static let version: UInt32 = 2
    static let adopted: [UInt32] = [1]
    static let hasRows = true
    static let events = Shelf1.events
    static func state(after event: Event, _ state: State?) -> State {
        State(title: Shelf1.state(after: event, nil).name)
    }
}

/// It adopts a state with a member that it does not read.
private enum LikesNarrow: AppVersion {
    struct State: Codable, Sendable { var others: Int? }
    static var codec: any EventCodec<Likes1.Event> { Likes1.codec }
    static let version: UInt32 = 2
    static let adopted: [UInt32] = [1]
    static let events = Likes1.events
    static func state(after event: Likes1.Event, _ state: State?) -> State { State() }
}

/// What the versions of the app of steps share.
private struct Step: Codable, Sendable { var count: UInt64, place: UInt64 = 0 }
private protocol StepsVersion: AppVersion where Event == Step, State == Step {}
extension StepsVersion {
    static func state(after event: Step, _ state: Step?) -> Step { event }
}

private struct StepBytes: ByteCodec {
    let hasPlace: Bool
    func encode(_ step: Step, into output: inout OutputBuffer) {
        output.append(variable: step.count)
        if hasPlace, step.place != 0 { output.append(variable: step.place) }
    }
    func decode(_ bytes: RawSpan) throws -> Step {
        var cursor = InputCursor()
        var step = Step(count: try cursor.variable(in: bytes))
        if hasPlace, !cursor.isAtEnd(of: bytes) { step.place = try cursor.variable(in: bytes) }
        try cursor.requireEnd(of: bytes)
        return step
    }
}

private enum Steps0: StepsVersion {
    static var codec: any EventCodec<Step> { JSONCodec() }
    static let events = Steps1.events
}

private enum StepsPacked: StepsVersion {
    static var codec: any EventCodec<Step> {
        PackedCodec(StepBytes(hasPlace: false), as: EventFormat(codec: 128, version: 1))
            .reading(JSONCodec())
    }
    static let events = Steps1.events
}

private enum Steps1: StepsVersion {
    static var codec: any EventCodec<Step> {
        PackedCodec(StepBytes(hasPlace: false), as: EventFormat(codec: 128, version: 1))
    }
    static let events = Generator<Step> { choices in
        Step(count: choices.draw(upTo: 2, .uniform))
    }
}

private enum Steps2: StepsVersion {
    static var codec: any EventCodec<Step> {
        PackedCodec(StepBytes(hasPlace: true), as: EventFormat(codec: 128, version: 2))
            .reading(StepBytes(hasPlace: false), as: EventFormat(codec: 128, version: 1))
    }
    static let events = Generator<Step> { choices in
        Step(count: choices.draw(upTo: 2, .uniform), place: choices.draw(upTo: 1, .uniform))
    }
}

private enum Steps3: StepsVersion {
    static var codec: any EventCodec<Step> {
        PackedCodec(StepBytes(hasPlace: true), as: EventFormat(codec: 129, version: 1))
            .reading(StepBytes(hasPlace: true), as: EventFormat(codec: 128, version: 2))
            .reading(StepBytes(hasPlace: false), as: EventFormat(codec: 128, version: 1))
    }
    static let events = Steps2.events
}
