import Foldback
import FoldbackServer
import FoldbackSync
import Foundation
import Synchronization
import TestSupport
import Testing

/// Question: does a space decide nothing while its state may be wrong, and does it go on with code that is
/// right (N9)?
@Suite struct SpaceFaultTests {
    private let directory = TemporaryDirectory()

    private func open<R: Rules>(_ rules: R) async throws -> Space<R> {
        try await Space.open(at: directory.url, rules: rules)
    }

    /// Checks that the space refuses an intent, for a reason that contains `words`.
    private func expectFault<R: Rules>(
        _ space: Space<R>, _ words: String, for intent: Submission<R.State.Event>
    ) async throws {
        let fault = try #require(space.fault)
        #expect(fault.contains(words), "\(fault)")
        let failure = await error { () async throws(AuthorityFailure) in
            try await space.authority(for: .ann).submit([intent])
        }
        #expect(failure == .unavailable(after: nil, reason: fault))
        #expect(try space.verdict(on: intent.id) == nil)
    }

    // MARK: Older code

    @Test func `N9: a decision that this code cannot read stops the space until it can`()
        async throws
    {
        let newer = try await open(OpenRules<EditionBoard<LastEdition>>())
        let answer = try await newer.authority(for: .ann).submit([
            sent(1, .set("a", 1)), sent(2, .replaceAll(["b": 2])),
        ])
        await newer.close()
        let older = try await open(OpenRules<EditionBoard<FirstEdition>>())
        try await expectFault(
            older, "the decision at entry 2 has no effect", for: sent(3, .add("b", 1)))
        await older.close()
        let again = try await open(OpenRules<EditionBoard<LastEdition>>())
        #expect(again.fault == nil)
        let all = [sent(1, .set("a", 1)), sent(2, .replaceAll(["b": 2])), sent(3, .add("b", 1))]
        let later = try await again.authority(for: .ann).submit(all)
        #expect(later[id(1)] == answer[id(1)] && later[id(2)] == answer[id(2)])
        #expect(later[id(3)] == .accepted(position: 3, replacement: nil))
        #expect(again.store.view.state.board.cells == ["b": 3])
        await again.close()
    }

    @Test func `N9: a decision that this code reads in part stops the space until it reads all`()
        async throws
    {
        let newer = try await open(OpenRules<Diary<MoodyNote>>())
        let first = written(1, MoodyNote(text: "a", mood: "sad"), MoodyNote(text: "a", mood: "sad"))
        let answer = try await newer.authority(for: .ann).submit([first])
        await newer.close()
        let older = try await open(OpenRules<Diary<Note>>())
        try await expectFault(
            older, "reads only a part", for: written(2, Note(text: "b"), Note(text: "b")))
        await older.close()
        let again = try await open(OpenRules<Diary<MoodyNote>>())
        #expect(again.fault == nil)
        #expect(try await again.authority(for: .ann).submit([first]).byIntent == answer.byIntent)
        await again.close()
    }

    @Test
    func `N13: an intent that this code reads in part is decided later, by code that reads all`()
        async throws
    {
        let older = try await open(OpenRules<Diary<Note>>())
        let whole = written(1, Note(text: "a"), Note(text: "a"))
        let part = written(2, Note(text: "b"), MoodyNote(text: "b", mood: "sad"))
        let answer = try await older.authority(for: .ann).submit([whole, part])
        #expect(answer[id(1)] == .accepted(position: 2, replacement: nil))
        guard case .later? = answer[id(2)] else {
            Issue.record("\(answer)")
            return
        }
        #expect(older.fault == nil && older.store.view.state.texts == ["a"])
        #expect(try await older.store.verify().isSound)
        await older.close()
        let reopened = try await open(OpenRules<Diary<Note>>())
        #expect(reopened.fault == nil)
        await reopened.close()
        let newer = try await open(OpenRules<Diary<MoodyNote>>())
        let moody = MoodyNote(text: "b", mood: "sad")
        let later = try await newer.authority(for: .ann).submit([written(2, moody, moody)])
        #expect(later[id(2)] == .accepted(position: 3, replacement: nil))
        await newer.close()
    }

    @Test func `N9: after newer code has decided, older code decides nothing`() async throws {
        let first = try await open(OpenRules<Ladder<First>>())
        _ = try await first.authority(for: .ann).submit([sent(1, .set("a", 1))])
        await first.close()
        let second = try await open(OpenRules<Ladder<Second>>())
        #expect(second.fault == nil)
        // The newer code only opened the log. The older code still decides.
        await second.close()
        let still = try await open(OpenRules<Ladder<First>>())
        _ = try await still.authority(for: .ann).submit([sent(2, .set("b", 1))])
        await still.close()
        let newer = try await open(OpenRules<Ladder<Second>>())
        _ = try await newer.authority(for: .ann).submit([sent(3, .set("c", 1))])
        await newer.close()
        let older = try await open(OpenRules<Ladder<First>>())
        try await expectFault(
            older, "version 2 of Ladder has decided, and this is 1", for: sent(4, .set("d", 1)))
        await older.close()
        let again = try await open(OpenRules<Ladder<Second>>())
        _ = try await again.authority(for: .ann).submit([sent(4, .set("d", 1))])
        #expect(again.store.view.state.board.cells == ["a": 1, "b": 1, "c": 1, "d": 1])
        await again.close()
    }

    @Test func `N9: an effect of an older version that no longer applies is left out`() async throws
    {
        let first = try await open(OpenRules<Ladder<First>>())
        let intents = [sent(1, .set("steep", 1)), sent(2, .set("a", 2))]
        let answer = try await first.authority(for: .ann).submit(intents)
        await first.close()
        let second = try await open(OpenRules<Ladder<Second>>())
        #expect(second.fault == nil)
        #expect(second.store.view.state.board.cells == ["a": 2])
        #expect(try await second.authority(for: .ann).submit(intents).byIntent == answer.byIntent)
        // Devices leave it out themselves.
        let page = try await second.authority(for: .ann).changes(after: 0)
        #expect(page.events.map(\.origin) == [id(1), id(2)])
        let new = try await second.authority(for: .ann).submit([sent(3, .set("steep", 3))])
        #expect(
            new[id(3)] == .rejected(Rejection(code: "inapplicable", message: "it is too steep")))
        #expect(try await second.store.verify().isSound)
        await second.close()
    }

    // MARK: Code that is not a function of its arguments

    @Test func `N9: an effect that applies in the space and not in the log is not answered`()
        async throws
    {
        let space = try await open(OpenRules<FickleBoard>())
        _ = try await space.authority(for: .ann).submit([sent(1, .set("a", 1))])
        FickleBoard.applicationsLeft.withLock { $0 = 1 }
        defer { FickleBoard.applicationsLeft.withLock { $0 = nil } }
        let failure = await error { () async throws(AuthorityFailure) in
            try await space.authority(for: .ann).submit([sent(2, .set("b", 2))])
        }
        let fault = try #require(space.fault)
        #expect(fault.contains("the decision at entry 3 has no effect"))
        #expect(failure == .unavailable(after: nil, reason: fault))
        FickleBoard.applicationsLeft.withLock { $0 = nil }
        try await expectFault(space, "no more", for: sent(3, .set("c", 3)))
        await space.close()
    }

    @Test func `N4: rules that change their mind are asked once for each intent`() async throws {
        let rules = MoodyRules()
        let space = try await open(rules)
        let intents = (1...9).map { sent($0, .set("a", Int($0))) }
        let first = try await space.authority(for: .ann).submit(intents)
        await space.close()
        let reopened = try await open(rules)
        #expect(
            try await reopened.authority(for: .ann).submit(intents).byIntent == first.byIntent)
        #expect(rules.count.withLock { $0 } == 9)
        await reopened.close()
    }

    @Test func `N4: an intent that comes again while its first is queued is applied once`()
        async throws
    {
        let space = try await open(BoardRules())
        _ = try await space.authority(for: .ann).submit([sent(1, .set("a", 0))])
        for number in 2...20 as ClosedRange<UInt64> {
            // Alone, after a repeated intent, and before the next.
            let requests = [
                [sent(number, .add("a", 1))], [sent(1, .set("a", 0)), sent(number, .add("a", 1))],
                [sent(number, .add("a", 1)), sent(number + 100, .add("a", 1))],
            ]
            let answers = try await withThrowingTaskGroup(of: Verdicts<Move>.self) { group in
                for task in 0..<30 {
                    group.addTask {
                        try await space.authority(for: .ann).submit(requests[task % 3])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map { "\(String(describing: $0[id(number)]))" }).count == 1)
            #expect(space.store.view.state.cells["a"] == 2 * Int(number - 1))
        }
        #expect(try await space.store.verify().isSound)
        await space.close()
    }
}

// MARK: Projections and rules

private protocol DiaryNote: Codable, Hashable, Sendable {
    var text: String { get }
}

private struct Note: DiaryNote { let text: String }

private struct MoodyNote: DiaryNote {
    let text: String
    let mood: String?
}

private struct Diary<N: DiaryNote>: Projection, Codable {
    private(set) var texts: [String] = []

    static var name: String { "Diary" }

    mutating func apply(_ note: N, _ context: EventContext) { texts.append(note.text) }
}

/// An intent as the code with the type `Written` recorded it.
private func written<N: DiaryNote, Written: DiaryNote>(
    _ number: UInt64, _ note: N, _ written: Written
) -> Submission<N> {
    let codec = JSONCodec<Written>()
    guard let bytes = try? codec.encode(written) else { preconditionFailure("\(written)") }
    return Submission(
        id: id(number), event: note,
        recorded: RecordedEvent(format: codec.format, bytes: bytes),
        time: Timestamp(millisecondsSince1970: 0), info: [:])
}

private protocol Rung: Sendable {
    static var version: UInt32 { get }
}

private enum First: Rung { static let version: UInt32 = 1 }
private enum Second: Rung { static let version: UInt32 = 2 }

/// Its second version refuses a cell that the first one takes.
private struct Ladder<R: Rung>: Projection, Codable {
    private(set) var board = Board()

    static var name: String { "Ladder" }
    static var version: UInt32 { R.version }
    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        if R.version == 2, case .set("steep", _) = move {
            throw MoveConflict(reason: "it is too steep")
        }
        try board.apply(move, context)
    }
}

/// Breaks its contract: whether an event applies depends on how often events were applied.
private struct FickleBoard: Projection {
    /// The number of events that still apply; nil if all do.
    static let applicationsLeft = Mutex<Int?>(nil)

    private(set) var board = Board()

    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        try Self.applicationsLeft.withLock { left in
            guard let count = left else { return }
            guard count > 0 else { throw MoveConflict(reason: "no more") }
            left = count - 1
        }
        try board.apply(move, context)
    }
}

/// Breaks its contract: each call has another ruling.
private final class MoodyRules: Rules {
    let count = Mutex(0)

    func decide(
        _ intent: Submission<Move>, by account: Account, on board: Board, at time: Timestamp
    ) -> Ruling<Move> {
        let call = count.withLock { count in
            count += 1
            return count
        }
        return switch call % 3 {
        case 0: .reject(Rejection(message: "call \(call)"))
        case 1: .reword(.set("a", call))
        default: .accept
        }
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}
