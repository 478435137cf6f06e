import Foldback
import FoldbackSync
import FoldbackUI
import Foundation
import Observation

/// A request that has reached the authority.
struct StagedRequest: Hashable, Sendable {
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
    @ObservationIgnored private var waiting: [StagedRequest: Waiting] = [:]
    /// What takes the fractions of held requests.
    @ObservationIgnored private var progress: [StagedRequest: @Sendable (Double) -> Void] = [:]
    @ObservationIgnored private let file: URL
    @ObservationIgnored private let clock: FeedClock

    private typealias Waiting = CheckedContinuation<Step, Never>

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

    /// What becomes of a held request.
    private enum Step { case rule(FeedAuthority.Ruling), drop }

    static func settings(in file: URL) -> Settings {
        (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Settings.self, from: $0) }
            ?? Settings()
    }

    init(_ settings: Settings, file: URL, clock: FeedClock) {
        (self.settings, self.file, self.clock) = (settings, file, clock)
    }

    // MARK: Requests

    /// Lets a request pass: at once, after the delay, or when it is released.
    ///
    /// - Parameter progress: takes fractions while the request is held.
    /// - Throws: `.unreachable` if the device is offline or goes offline, or the task is canceled.
    func admit(
        _ request: StagedRequest, progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(AuthorityFailure) -> FeedAuthority.Ruling {
        try requireOnline(request.by)
        if settings.delay > 0 {
            await pass(.seconds(settings.delay), by: request.id)
            if Task.isCancelled { throw .unreachable(reason: "the task was canceled") }
            try requireOnline(request.by)
        }
        guard settings.isHolding else {
            guard settings.rejectsNext, request.wait == nil else { return .byRules }
            change { $0.rejectsNext = false }
            return .reject(Self.refusal)
        }
        self.progress[request] = progress
        switch await step(of: request) {
        case .rule(let ruling): return ruling
        case .drop: throw .unreachable(reason: "the connection was lost")
        }
    }

    static let refusal = "The server does not accept this."

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

    private func step(of request: StagedRequest) async -> Step {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: .drop) }
                // The same request may come again before the first was dropped.
                resolve(request, .drop)
                held.append(request)
                waiting[request] = continuation
            }
        } onCancel: {
            Task { @MainActor in self.resolve(request, .drop) }
        }
    }

    private func resolve(_ request: StagedRequest, _ step: Step) {
        guard let continuation = waiting.removeValue(forKey: request) else { return }
        progress[request] = nil
        held.removeAll { $0 == request }
        continuation.resume(returning: step)
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
    func release(_ id: String?) throws(CommandError) {
        guard let id else {
            change { $0.isHolding = false }
            for request in held { resolve(request, .rule(.byRules)) }
            return
        }
        resolve(try request(id), .rule(.byRules))
    }

    /// Decides on a held request in another way.
    func decide(_ id: String, _ ruling: FeedAuthority.Ruling) throws(CommandError) {
        resolve(try request(id), .rule(ruling))
    }

    /// Reports how far held requests have come.
    func report(_ fraction: Double, of held: StageCommand.Held) throws(CommandError) {
        for request in try requests(held) { progress[request]?(fraction) }
    }

    /// Lets held requests fail.
    func fail(_ held: StageCommand.Held) throws(CommandError) {
        for request in try requests(held) { resolve(request, .rule(.reject(Self.refusal))) }
    }

    private func request(_ id: String) throws(CommandError) -> StagedRequest {
        guard let request = held.first(where: { $0.id == id }) else {
            throw CommandError(status: .conflict, "\(id) is not held")
        }
        return request
    }

    private func requests(_ held: StageCommand.Held) throws(CommandError) -> [StagedRequest] {
        switch held {
        case .id(let id): return [try request(id)]
        case .wait(let wait):
            let found = self.held.filter { $0.wait == wait }
            guard !found.isEmpty else {
                throw CommandError(status: .conflict, "no request of \(wait) is held")
            }
            return found
        }
    }

    /// Changes the network of a device. Its requests that are on their way are lost.
    func setOnline(_ isOnline: Bool, _ user: String) {
        change {
            if isOnline { $0.offline.remove(user) } else { $0.offline.insert(user) }
        }
        guard !isOnline else { return }
        for request in held where request.by == user { resolve(request, .drop) }
    }

    func change(_ body: (inout Settings) -> Void) {
        var next = settings
        body(&next)
        guard next != settings else { return }
        settings = next
        // Losing the settings would not lose any work, so a failure is not an error.
        try? JSONEncoder().encode(next).write(to: file, options: .atomic)
    }
}
