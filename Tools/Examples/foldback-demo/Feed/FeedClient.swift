import Foldback
import FoldbackExamples
import Foundation

/// Performs the story: Mia's device with its log, the authority, and the other users.
struct FeedClient {
    private static let mia = replica("mia")

    private let log: URL
    private(set) var store: Store<Feed>
    private(set) var server = FeedServer()
    /// The authority's answers on their way to Mia's device.
    private var answers: [IntentNumber: FeedServer.Verdict] = [:]
    /// The number of intents of each other user.
    private var others: [String: UInt64] = [:]

    init(log: URL) async throws {
        self.log = log
        store = try await Self.open(log)
    }

    private static func open(_ log: URL) async throws -> Store<Feed> {
        try await Store.open(
            at: log, Feed.self, confirmedBy: .downlink, durability: .durable,
            replica: .exactly(mia))
    }

    mutating func perform(_ act: Act) async throws {
        switch act {
        case .mia(let action, let once, let confirmOnly):
            let event = FeedEvent(by: "mia", did: action)
            _ = try await store.record(event, confirmOnly: confirmOnly, once: once)
        case .retries(let number): _ = try await store.retry(number)
        case .other(let name, let action): try receive(action, from: name)
        case .arrive(let numbers): try numbers.forEach { try send($0) }
        case .answered(let numbers): for number in numbers { try await answer(number) }
        case .downlink:
            let events = server.events(for: "mia", after: store.snapshot.through)
            try await store.confirm(events, through: server.head)
        case .reopened:
            await store.close()
            // Closing the store loses the answers on their way.
            answers = [:]
            store = try await Self.open(log)
        }
    }

    private mutating func receive(_ action: FeedAction, from name: String) throws {
        others[name, default: 0] += 1
        let id = IntentID(
            replica: Self.replica(name), number: IntentNumber(others[name, default: 1]))
        guard case .accepted = server.receive(id, FeedEvent(by: name, did: action)) else {
            throw DemoFailure(description: "the authority rejects \(action) by \(name)")
        }
    }

    /// Sends the intent as it was recorded, as an outbox does; may be repeated.
    private mutating func send(_ number: IntentNumber) throws {
        let intent = try store.intent(number)
        guard let event = intent.event else {
            throw DemoFailure(description: "intent \(number) cannot be read")
        }
        answers[number] = server.receive(intent.id, event)
    }

    private func answer(_ number: IntentNumber) async throws {
        switch answers[number] {
        case .accepted(let position, let replacement):
            try await store.acknowledge(number, position: position, replacement: replacement)
        case .rejected(let rejection):
            try await store.reject(number, code: rejection.code, message: rejection.message)
        case nil:
            throw DemoFailure(description: "the authority has not answered intent \(number)")
        }
    }

    private static func replica(_ name: String) -> ReplicaID {
        guard let replica = ReplicaID(name) else {
            preconditionFailure("\(name) is not a replica id")
        }
        return replica
    }

    // MARK: What Mia sees

    /// The listed rejections, with their reasons.
    func rejections() throws -> [IntentNumber: Rejection] {
        try store.rejections.reduce(into: [:]) { $0[$1] = try store.intent($1).rejection }
    }

    func screen() throws -> Screen {
        Screen(store.snapshot, rejections: try rejections())
    }
}
