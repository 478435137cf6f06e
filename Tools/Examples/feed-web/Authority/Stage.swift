import Foldback
import FoldbackSync
import FoldbackUI
import Foundation
import Observation

/// A request that has reached the authority.
struct StagedRequest: Hashable, Encodable, Sendable {
    /// The replica and the intent's number, or what is asked for.
    let id: String
    /// The replica.
    let by: String
    let what: String
    /// The request in words.
    let text: String
    /// The name of the wait that the request has; nil for an intent.
    var wait: String?
    /// The words that can be replaced; nil if there are none.
    var content: String?
}

/// What a person can do to the authority and to the network: hold requests, release
/// them in any order, reject them, and take devices offline.
///
/// Its settings survive the end of the process. Held requests do not: the devices send them again.
@MainActor @Observable final class Stage {
    private(set) var settings: Settings
    /// The requests that wait for a decision, in the order of their arrival.
    private(set) var held: [StagedRequest] = []
    /// The ids of the requests that wait for the clock, with the moments.
    @ObservationIgnored private var delayed: [String: Moment] = [:]

    @ObservationIgnored private var postponed: [IntentID: Int] = [:]
    /// The held requests by id.
    @ObservationIgnored private var waiting: [String: Waiting] = [:]
    /// The number of requests that were held.
    @ObservationIgnored private var arrivals = 0
    /// The rulings of a person on intents that are not decided yet, by the id of the request.
    @ObservationIgnored private var rulings: [String: StageRuling] = [:]
    @ObservationIgnored private let file: URL
    @ObservationIgnored private let clock: FeedClock

    private struct Waiting {
        /// Distinguishes a request from an earlier request with the same id.
        let arrival: Int
        /// Takes the ruling; nil if the request is dropped.
        let continuation: CheckedContinuation<StageRuling?, Never>
        /// Takes the fractions.
        let progress: (@Sendable (Double) -> Void)?
    }

    struct Settings: Codable, Hashable, Sendable {
        var isHolding = false
        var offline: Set<String> = []
        var signedOut: Set<String> = []
        var rejectsNext = false
        var losesNextAnswer = false
        var delay: Double = 0
        /// The seconds of the manual clock.
        var now: Double = 0
    }

    /// Reads the settings. A new stage has no file. Losing the settings would not lose any work, so a
    /// damaged file is only a complaint.
    static func settings(in file: URL) -> Settings {
        guard FileManager.default.fileExists(atPath: file.path) else { return Settings() }
        do {
            return try JSONDecoder().decode(Settings.self, from: Data(contentsOf: file))
        } catch {
            complain("the settings in \(file.path) cannot be read: \(error)")
            return Settings()
        }
    }

    init(_ settings: Settings, file: URL, clock: FeedClock) {
        (self.settings, self.file, self.clock) = (settings, file, clock)
    }

    // MARK: Requests

    /// Lets a request pass: at once, after the delay, or when it is released.
    ///
    /// A person's ruling on an intent applies each time the intent comes, until ``noteDecision(on:)``.
    ///
    /// - Parameters:
    ///   - progress: takes fractions while the request is held.
    ///   - noteHold: called when the request is held.
    /// - Throws: `.unreachable` if the device is offline or goes offline, or the task is canceled.
    func admit(
        _ request: StagedRequest, progress: (@Sendable (Double) -> Void)? = nil,
        noteHold: (@Sendable () -> Void)? = nil
    ) async throws(AuthorityFailure) -> StageRuling {
        try await transmit(request)
        if let ruling = rulings[request.id] { return ruling }
        guard settings.isHolding else {
            guard settings.rejectsNext, request.wait == nil else { return .byRules }
            change { $0.rejectsNext = false }
            return rule(.reject(Self.refusal), on: request)
        }
        guard let ruling = await heldRuling(on: request, progress, noteHold) else {
            throw .unreachable(reason: "the connection was lost")
        }
        return rule(ruling, on: request)
    }

    /// Lets a request reach the authority, at once or after the delay.
    ///
    /// - Throws: `.unreachable` if the device is offline or goes offline, or the task is canceled.
    func transmit(_ request: StagedRequest) async throws(AuthorityFailure) {
        try requireOnline(request.by)
        guard settings.delay > 0 else { return }
        await pass(.seconds(settings.delay), by: request.id)
        if Task.isCancelled { throw .unreachable(reason: "the task was canceled") }
        try requireOnline(request.by)
    }

    private func rule(
        _ ruling: StageRuling, on request: StagedRequest
    ) -> StageRuling {
        if request.wait == nil { rulings[request.id] = ruling }
        return ruling
    }

    /// Forgets the ruling on an intent that has a verdict now.
    func noteDecision(on request: StagedRequest) { rulings[request.id] = nil }

    nonisolated static let refusal = "The server does not accept this."

    /// Waits for the clock.
    func pass(_ time: Duration, by id: String) async {
        let end = clock.ui.now().advanced(by: time)
        delayed[id] = end
        await clock.ui.sleep(end)
        delayed[id] = nil
    }

    /// Whether a request waits for the stage or for a later time, so that nothing happens by itself.
    func isParked(_ id: String) -> Bool {
        held.contains { $0.id == id } || delayed[id].map { $0 > clock.ui.now() } ?? false
    }

    /// Holds a request, and returns the ruling; nil if it is dropped.
    private func heldRuling(
        on request: StagedRequest, _ progress: (@Sendable (Double) -> Void)?,
        _ noteHold: (@Sendable () -> Void)?
    ) async -> StageRuling? {
        arrivals += 1
        let arrival = arrivals
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                // The same request may come again before the first was dropped.
                resolve(request.id, nil)
                held.append(request)
                noteHold?()
                waiting[request.id] = Waiting(
                    arrival: arrival, continuation: continuation, progress: progress)
            }
        } onCancel: {
            Task { @MainActor in
                if waiting[request.id]?.arrival == arrival { resolve(request.id, nil) }
            }
        }
    }

    private func resolve(_ id: String, _ ruling: StageRuling?) {
        guard let request = waiting.removeValue(forKey: id) else { return }
        held.removeAll { $0.id == id }
        request.continuation.resume(returning: ruling)
    }

    /// Returns whether an intent must come again later, because it builds on an intent that has not
    /// arrived or is held.
    ///
    /// The other intent may have been withdrawn, so its arrival is awaited only a few times.
    func postpones(_ intent: IntentID, until other: String) -> Bool {
        if held.contains(where: { $0.id == other }) { return true }
        postponed[intent, default: 0] += 1
        return postponed[intent, default: 0] <= Self.postponementsMax
    }

    private static let postponementsMax = 3

    /// Checks that an answer reaches the device.
    func requireAnswer(by user: String) throws(AuthorityFailure) {
        try requireOnline(user)
        guard settings.losesNextAnswer else { return }
        change { $0.losesNextAnswer = false }
        throw .unreachable(reason: "the answer was lost")
    }

    func requireOnline(_ user: String) throws(AuthorityFailure) {
        guard !settings.offline.contains(user) else {
            throw .unreachable(reason: "\(user) is offline")
        }
    }

    // MARK: The stage

    func hold() { change { $0.isHolding = true } }

    /// Decides on a held request by the rules. Without an id, decides on all, and holds no more.
    func release(_ id: String?) throws(Refusal) {
        if let id { return try decide(id, .byRules) }
        change { $0.isHolding = false }
        for request in held { resolve(request.id, .byRules) }
    }

    /// Decides on a held request.
    func decide(_ id: String, _ ruling: StageRuling) throws(Refusal) {
        guard waiting[id] != nil else { throw Refusal(.conflict, "\(id) is not held") }
        resolve(id, ruling)
    }

    /// Reports how far the held requests of a wait have come.
    func report(_ fraction: Double, of wait: String) throws(Refusal) {
        let requests = held.filter { $0.wait == wait }
        guard !requests.isEmpty else { throw Refusal(.conflict, "\(wait) is not held") }
        for request in requests { waiting[request.id]?.progress?(fraction) }
    }

    /// Changes the network of a device. Its requests that are on their way are lost.
    func setOnline(_ isOnline: Bool, _ user: String) {
        change {
            if isOnline { $0.offline.remove(user) } else { $0.offline.insert(user) }
        }
        guard !isOnline else { return }
        for request in held where request.by == user { resolve(request.id, nil) }
    }

    func change(_ body: (inout Settings) -> Void) {
        var next = settings
        body(&next)
        guard next != settings else { return }
        settings = next
        do { try JSONEncoder().encode(next).write(to: file, options: .atomic) } catch {
            complain("the settings cannot be saved in \(file.path): \(error)")
        }
    }
}
