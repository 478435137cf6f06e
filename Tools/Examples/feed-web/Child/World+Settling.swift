import Foldback
import FoldbackSync
import FoldbackUI

/// The manual clock: time passes only on command, and a command waits until nothing more happens.
extension World {
    /// Moves the clock from one wake-up to the next, and waits each time.
    func advance(by duration: Duration) async throws(Refusal) {
        guard let manual = clock.manual else {
            throw Refusal(.conflict, "the clock is the system's; use --clock manual")
        }
        let end = manual.now.advanced(by: duration)
        await settle()
        while let next = manual.wakeUps.first, next <= end {
            move(manual, to: next)
            await settle()
        }
        move(manual, to: end)
    }

    private func move(_ manual: SettledClock, to moment: Moment) {
        manual.advance(by: max(.zero, manual.now.duration(to: moment)))
        stage.change { $0.now = clock.seconds }
    }

    /// Returns once everything waits: for a person, for the stage, or for a later time. All messages
    /// are out then. With the system's clock, it returns at once.
    func settle() async {
        guard let manual = clock.manual else { return }
        var quiet = 0
        for _ in 0..<Self.checksMax {
            // A task that runs again may not have told anybody yet.
            quiet = manual.isSettled && isSettled ? quiet + 1 : 0
            manual.frame()
            if quiet == Self.quietChecks { return }
            _ = try? await Task.sleep(for: .milliseconds(1))
        }
        let reasons = screens.values.compactMap { screen in
            screen.unsettledPart.map { "\($0) of \(screen.user)" }
        }
        if !manual.isSettled { complain("tasks that were woken up do not run") }
        complain("not settled after \(Self.checksMax) checks: \(reasons)")
    }

    private static let quietChecks = 4
    private static let checksMax = 5_000

    private var isSettled: Bool { screens.values.allSatisfy { $0.unsettledPart == nil } }
}

extension FeedScreen {
    /// What may change by itself before a later time; nil if nothing may.
    var unsettledPart: String? {
        if publisher.isStale || archive?.publisher.isStale ?? false { return "a message" }
        if model.revision != replica.store.status.sequence { return "the view" }
        if !isOutboxSettled { return "the outbox" }
        if !isDownlinkSettled { return "the downlink" }
        if !areRequestsSettled { return "a request" }
        if !isUploadSettled { return "an upload" }
        if !areMarksSettled { return "a mark" }
        if toldConflicts != Set(replica.store.snapshot.conflicted) { return "a conflict" }
        return model.rejections.allSatisfy { told.contains($0.number) } ? nil : "the news"
    }

    private var now: Timestamp { world.clock.sync.now() }

    private func isLater(_ time: Timestamp?) -> Bool { time.map { $0 > now } ?? false }

    private var isOutboxSettled: Bool {
        let status = replica.sync.status.outbox
        guard status.inFlight.allSatisfy({ world.stage.isParked("\(user)/\($0)") }) else {
            return false
        }
        switch status.pause {
        case .stopped: return false
        case .offline, .signedOut, .superseded: return true
        case .failing, nil: break
        }
        // Requests that are being prepared are neither in flight nor waiting.
        let known =
            status.inFlight.count + status.waitingCount + status.unreadable.count
            + status.held.count + status.dependentCount
        guard known == replica.store.status.pendingCount else { return false }
        return status.waitingCount == 0 || isLater(status.nextAttempt)
            || status.inFlight.count >= Replica.policy.requestsMax
    }

    private var isDownlinkSettled: Bool {
        let status = replica.sync.status.downlink
        switch status.pause {
        case .stopped, .offline, .signedOut, .superseded: return true
        case .failing where isLater(status.nextAttempt): return true
        case .failing, nil: break
        }
        guard !replica.following.isOpen else {
            return world.hasAllEvents(user, after: status.through)
        }
        let fetches = waits.running.filter { $0 == "feed" || $0.hasPrefix("open:") }
        // Nothing is fetched after a fetch that was canceled or has failed.
        return fetches.isEmpty || fetches.contains(where: isParked)
    }

    private var areRequestsSettled: Bool {
        let status = replica.sync.status.downlink
        let isDisconnected =
            world.stage.settings.offline.contains(user) || !isSignedIn
            || isLater(status.nextAttempt)
        let isSettled = { (wait: String) in
            wait.hasPrefix("boost:") || isDisconnected || self.isParked(wait)
        }
        return waits.running.allSatisfy(isSettled) && areBoostsSettled
    }

    /// The draft is released in a task of its own, after the wait has ended.
    private var isUploadSettled: Bool {
        upload.map { $0.isOver || waits.running.contains("upload") } ?? true
    }

    private func isParked(_ wait: String) -> Bool { world.stage.isParked("\(user)/\(wait)") }

    /// The attempts are beside the log, so the revision does not tell.
    private var areMarksSettled: Bool {
        list.snapshot.sections.flatMap(\.rows).flatMap(\.status.marks).allSatisfy { mark in
            mark.state != .pending || mark.attempt == replica.store.attempt(of: mark.number)
        }
    }
}
