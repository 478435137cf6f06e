import Foldback
import FoldbackServer
import FoldbackSync
import TestSupport
import Testing

/// Question: does a space go on after a restart if its events read other members in each case (N9)?
///
/// A review found that it stopped: an event that was read whole when it was decided was read in part by a
/// process that had not seen the same events before.
@Suite struct SpaceMemberTests {
    private let directory = TemporaryDirectory()
    private let bird = animal(1, #"{"kind":"bird","wings":2}"#, .bird(wings: 2))
    /// The device sends a member that this case does not read.
    private let fish = animal(2, #"{"fins":3,"kind":"fish","wings":0}"#, .fish(fins: 3))
    private let plainFish = animal(3, #"{"fins":4,"kind":"fish"}"#, .fish(fins: 4))

    private func open<R: Rules>(_ rules: R) async throws -> Space<R> {
        try await Space.open(at: directory.url, rules: rules)
    }

    @Test func `N9: an effect stays read whole after a restart from a checkpoint`() async throws {
        let space = try await open(OpenRules<Zoo<Animal>>())
        _ = try await space.authority(for: .ann).submit([bird, plainFish])
        try await space.store.checkpoint()
        let answer = try await space.authority(for: .ann).submit([animal(4, fish)])
        #expect(answer[id(4)] == .accepted(position: 3, replacement: nil))
        await space.close()
        let reopened = try await open(OpenRules<Zoo<Animal>>())
        #expect(reopened.fault == nil)
        let again = try await reopened.authority(for: .ann).submit([
            animal(4, fish), animal(5, fish),
        ])
        #expect(again[id(4)] == answer[id(4)])
        #expect(again[id(5)] == .accepted(position: 4, replacement: nil))
        await reopened.close()
    }

    @Test func `N9: an effect stays read whole after older code has opened the space`() async throws
    {
        let space = try await open(OpenRules<Zoo<Animal>>())
        _ = try await space.authority(for: .ann).submit([bird, plainFish, animal(4, fish)])
        await space.close()
        let older = try await open(OpenRules<Zoo<OldAnimal>>())
        #expect(older.fault == "this code reads only a part of some effects")
        try await older.store.checkpoint()
        await older.close()
        let reopened = try await open(OpenRules<Zoo<Animal>>())
        #expect(reopened.fault == nil)
        await reopened.close()
    }

    @Test func `N13: a member counts as read only if it is read in an effect of the log`()
        async throws
    {
        let space = try await open(NoBirds())
        let answer = try await space.authority(for: .ann).submit([bird, fish])
        #expect(answer[id(1)] == .rejected(Rejection(message: "no birds")))
        guard case .later? = answer[id(2)] else {
            Issue.record("\(answer)")
            return
        }
        let next = try await space.authority(for: .ann).submit([plainFish])
        #expect(next[id(3)] == .accepted(position: 3, replacement: nil))
        await space.close()
        let reopened = try await open(NoBirds())
        #expect(reopened.fault == nil)
        await reopened.close()
    }
}

// MARK: Events and rules

/// Reads other members in each case.
private enum Animal: Codable, Hashable, Sendable {
    case bird(wings: Int)
    case fish(fins: Int)

    private enum Key: CodingKey { case kind, wings, fins }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        switch try members.decode(String.self, forKey: .kind) {
        case "bird": self = .bird(wings: try members.decode(Int.self, forKey: .wings))
        default: self = .fish(fins: try members.decode(Int.self, forKey: .fins))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .bird(let wings):
            try members.encode("bird", forKey: .kind)
            try members.encode(wings, forKey: .wings)
        case .fish(let fins):
            try members.encode("fish", forKey: .kind)
            try members.encode(fins, forKey: .fins)
        }
    }
}

private struct OldAnimal: Codable, Hashable, Sendable { let kind: String }

private struct Zoo<A: Codable & Hashable & Sendable>: Projection, Codable {
    private(set) var animals: [A] = []

    static var name: String { "Zoo" }

    mutating func apply(_ animal: A, _ context: EventContext) { animals.append(animal) }
}

private struct NoBirds: Rules {
    func decide(
        _ intent: Submission<Animal>, by account: Account, on zoo: Zoo<Animal>, at time: Timestamp
    ) -> Ruling<Animal> {
        if case .bird = intent.event { return .reject(Rejection(message: "no birds")) }
        return .accept
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}

private func animal(_ number: UInt64, _ json: String, _ animal: Animal) -> Submission<Animal> {
    Submission(
        id: id(number), event: animal,
        recorded: RecordedEvent(format: JSONCodec<Animal>().format, bytes: Array(json.utf8)),
        time: Timestamp(millisecondsSince1970: 0), info: [:])
}

/// The same event again.
private func animal(_ number: UInt64, _ other: Submission<Animal>) -> Submission<Animal> {
    Submission(
        id: id(number), event: other.event, recorded: other.recorded, time: other.time, info: [:])
}
