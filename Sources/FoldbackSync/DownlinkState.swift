import Foldback

/// The downlink's decisions, as a pure value: inputs say what happened, and each reader asks for its
/// next step.
///
/// ```
///             ┌──────────────── failed: pause ◀────────────────┐
///             ▼                                                │
///  began ─▶ asking ── page, there is more ─▶ asking ── page ─▶ caught up ─▶ fetch: done
///                                                              │  ▲
///                                      follow: long poll ◀─────┘  │
///                                          └── page, or time ─────┘
/// ```
///
/// A reader is one call of ``Downlink/follow()`` or ``Downlink/fetch()``. Each has at most one
/// request. All share one ``LinkState``.
///
/// Invariants:
/// - No request begins while offline, while signed out, or during a pause.
/// - A follower's empty long poll that ends early is followed by a wait for the rest of its time,
///   unless the device comes online or a user signs in.
/// - Each wait is at most `policy.delayMax` or `policy.waiting` long.
/// - A follower ends only if the store is closed or the authority is superseded.
package struct DownlinkState: Sendable {
    package enum Purpose: Sendable, Equatable { case follow, fetch }

    package enum Input: Sendable, Equatable {
        case began(ReaderNumber, Purpose)
        case ended(ReaderNumber)
        /// The log has a page.
        case pageRecorded(ReaderNumber, Page)
        case requestFailed(ReaderNumber, AuthorityFailure)
        /// The reader does not wait for its request any longer.
        case requestDropped(ReaderNumber)
        case told(LinkChange)
        case storeClosed
    }

    /// A page of changes, after it was recorded.
    package struct Page: Sendable, Equatable {
        package let through: Position
        /// Whether it had no new event.
        package let isEmpty: Bool
        package let hasMore: Bool

        package init(through: Position, isEmpty: Bool, hasMore: Bool) {
            self.through = through
            self.isEmpty = isEmpty
            self.hasMore = hasMore
        }
    }

    package enum Step: Sendable, Equatable {
        /// Ask for a page. `waiting` is the time of a long poll; nil for an answer at once.
        case request(waiting: Duration?)
        /// Ask for the next step at this time, and after each input.
        case wait(until: Timestamp?)
        case end(Ending)
    }

    package enum Ending: Sendable, Equatable {
        case caughtUp(through: Position)
        case failed(AuthorityFailure)
        case superseded(shared: Position)
        case storeClosed
    }

    package let policy: SyncPolicy
    /// Whether the log is confirmed by a downlink; otherwise there is nothing to fetch (F2).
    private let isNeeded: Bool
    package private(set) var link = LinkState()
    /// The last position that the log shares with an authority that superseded it; nil if none did.
    package private(set) var superseded: Position?
    private var isClosed = false
    private var readers: [ReaderNumber: Reader] = [:]

    package init(policy: SyncPolicy, isNeeded: Bool) {
        self.policy = policy
        self.isNeeded = isNeeded
    }

    // MARK: Inputs

    /// Applies an input. After it, each reader may have another next step.
    ///
    /// - Parameters:
    ///   - now: the time of day, which may jump.
    ///   - jitter: a random number from 0 to 1.
    package mutating func take(_ input: Input, at now: Timestamp, jitter: Double) {
        switch input {
        case .began(let reader, let purpose): began(reader, purpose)
        case .ended(let reader): ended(reader)
        case .pageRecorded(let reader, let page): pageRecorded(reader, page, now)
        case .requestFailed(let reader, let failure): requestFailed(reader, failure, now, jitter)
        case .requestDropped(let reader): readers[reader]?.startOver()
        case .told(.wentOnline): wentOnline()
        case .told(.wentOffline): link.wentOffline()
        case .told(.signedIn): signedIn()
        case .told(.signedOut(let reason)):
            link.signedOut(reason)
            dropLongPolls()
        case .storeClosed:
            isClosed = true
            dropLongPolls()
        }
    }

    private mutating func began(_ number: ReaderNumber, _ purpose: Purpose) {
        precondition(readers[number] == nil, "reader \(number) has begun already")
        readers[number] = Reader(purpose: purpose)
        // A new call asks now. The authority may be another one than at the last call.
        superseded = nil
        link.pause.skip()
    }

    private mutating func ended(_ number: ReaderNumber) {
        readers[number] = nil
        if readers.isEmpty { link.answered() }
    }

    private mutating func pageRecorded(_ number: ReaderNumber, _ page: Page, _ now: Timestamp) {
        guard var reader = readers[number], let request = reader.request else { return }
        link.answered()
        reader.startOver()
        reader.isCaughtUp = !page.hasMore  // mutant: last-page
        guard reader.isCaughtUp else {
            readers[number] = reader
            return
        }
        switch (reader.purpose, request.waiting) {
        case (.fetch, _):
            reader.end(.caughtUp(through: page.through))
            // The followers know what this page showed, so their next poll has time.
            let next = now.advanced(by: policy.waiting)
            for other in readers.keys where readers[other]?.pollAt != nil {
                readers[other]?.pollAt = next
            }
        case (.follow, let waiting?) where page.isEmpty:
            let passed = now.duration(since: request.startedAt)
            if passed < waiting {
                reader.pollAt = now.advanced(by: waiting - passed)
            }
        case (.follow, _): break
        }
        readers[number] = reader
    }

    private mutating func requestFailed(
        _ number: ReaderNumber, _ failure: AuthorityFailure, _ now: Timestamp, _ jitter: Double
    ) {
        guard let request = readers[number]?.request else { return }
        readers[number]?.startOver()
        guard link.failed(failure, after: request.signIns, now, jitter, policy) else { return }
        readers[number]?.failure = failure
        switch failure {
        case .unreachable, .unavailable, .unauthenticated, .failed: break
        case .invalidAnswer:
            if readers[number]?.purpose == .fetch { readers[number]?.end(.failed(failure)) }
        case .superseded(let shared):
            superseded = shared
            for reader in readers.keys { readers[reader]?.end(.superseded(shared: shared)) }
            dropLongPolls()
        }
    }

    private mutating func wentOnline() {
        link.wentOnline()  // mutant: downlink-online
        askAgain()
        // The connection of a long poll may be gone without notice.
        dropLongPolls()
    }

    private mutating func signedIn() {
        if link.signedOut != nil { askAgain() }
        link.signedIn()  // mutant: downlink-signed-in
    }

    /// Lets all readers ask now, unless the authority asked for a pause.
    private mutating func askAgain() {
        for reader in readers.keys where readers[reader]?.request == nil {
            readers[reader]?.startOver()
        }
    }

    private mutating func dropLongPolls() {
        for reader in readers.keys where readers[reader]?.request?.waiting != nil {
            readers[reader]?.request?.isDropped = true
            readers[reader]?.isCaughtUp = false
        }
    }

    // MARK: Steps

    /// Returns the reader's next step. A reader with a request must not call it, unless the store
    /// is closed.
    package mutating func next(_ number: ReaderNumber, at now: Timestamp) -> Step {
        if isClosed { return .end(.storeClosed) }
        guard let reader = readers[number], reader.request == nil else {
            preconditionFailure("reader \(number) has not begun, or has a request")
        }
        if let ending = reader.ending { return .end(ending) }
        if let reason = link.signedOut {
            switch reader.purpose {
            case .fetch: return .end(.failed(.unauthenticated(reason: reason)))
            case .follow: return .wait(until: nil)
            }
        }
        guard link.isOnline, isNeeded else { return .wait(until: nil) }
        if let until = link.pause.remains(at: now, policy) { return .wait(until: until) }
        if let pollAt = reader.pollAt {
            let until = min(pollAt, now.advanced(by: policy.waiting))
            readers[number]?.pollAt = until
            guard until <= now else { return .wait(until: until) }
        }
        let waiting = reader.isCaughtUp ? policy.waiting : nil
        readers[number]?.pollAt = nil
        readers[number]?.request = Reader.Request(
            startedAt: now, waiting: waiting, signIns: link.signIns)
        return .request(waiting: waiting)
    }

    // MARK: What others ask

    /// Whether the reader should no longer wait for its request.
    package func isDropped(_ number: ReaderNumber) -> Bool {
        readers[number]?.request?.isDropped ?? true
    }

    /// The reason why the reader has no page yet; nil if its first request goes on.
    package func failure(of number: ReaderNumber) -> AuthorityFailure? {
        readers[number]?.failure
            ?? (link.isOnline ? nil : .unreachable(reason: "the device is offline"))
    }

    /// Whether a call of ``Downlink/follow()`` or ``Downlink/fetch()`` runs.
    package var isRunning: Bool { !readers.isEmpty }

    /// Whether some reader asks for pages now and does not have them all.
    package var isFetching: Bool {
        isNeeded && link.isUsable && superseded == nil && link.pause.until == nil
            && readers.values.contains { !$0.isCaughtUp }
    }

    /// The time of the next request; nil if none is scheduled.
    package var nextAttempt: Timestamp? {
        guard link.isUsable, superseded == nil, isRunning else { return nil }
        return link.pause.until ?? readers.values.compactMap(\.pollAt).min()
    }
}

extension DownlinkState {
    private struct Reader: Sendable {
        struct Request: Sendable {
            let startedAt: Timestamp
            let waiting: Duration?
            /// The number of sign-ins before it began.
            let signIns: Int
            /// Whether the reader should no longer wait for it.
            var isDropped = false
        }

        let purpose: Purpose
        var isCaughtUp = false
        var request: Request?
        /// The time of the next long poll; nil for now.
        var pollAt: Timestamp?
        /// The failure of the last request; nil after a page.
        var failure: AuthorityFailure?
        private(set) var ending: Ending?

        /// Ends the reader. The first ending stays, because it is true for this reader.
        mutating func end(_ ending: Ending) { self.ending = self.ending ?? ending }

        /// Ends the request. The next request gets an answer at once.
        mutating func startOver() {
            request = nil
            pollAt = nil
            failure = nil
            isCaughtUp = false
        }
    }
}

/// The number of a call that reads an authority's changes: from 1 up.
package struct ReaderNumber: LogNumber {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}
