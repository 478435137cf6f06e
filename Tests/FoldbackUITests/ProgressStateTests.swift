import FoldbackUI
import Testing

private let wait = Wait(.sending)
private let nanosecond = Duration.nanoseconds(1)

/// Nielsen's limits are easily off by one comparison, and a view that is drawn one frame late hides
/// it. These tests look one nanosecond before and at each boundary.
@Suite struct ProgressBoundaryTests {
    private struct Boundary {
        let seconds: Double
        let before: Seen
        let at: Seen
    }

    private struct Seen: Equatable, CustomStringConvertible {
        var phase: ProgressPhase
        var indicator: Indicator?
        var words: String?
        var actions: Set<WaitAction> = []

        var description: String { "\(phase) \(indicator as Any) \(words ?? "") \(actions)" }
    }

    private func expect(_ boundaries: [Boundary], _ policy: ProgressPolicy) {
        let start = ProgressState(wait, policy)
        for boundary in boundaries {
            let moment = Moment.seconds(boundary.seconds)
            #expect(seen(start.at(moment.advanced(by: .zero - nanosecond))) == boundary.before)
            #expect(seen(start.at(moment)) == boundary.at)
            #expect(seen(start.at(moment.advanced(by: nanosecond))) == boundary.at)
        }
    }

    private func seen(_ state: ProgressState) -> Seen {
        Seen(
            phase: state.phase, indicator: state.indicator,
            words: state.text.map(ProgressTexts.english.words), actions: state.actions)
    }

    private let text = Seen(phase: .waiting, indicator: .spinner, words: "Sending")
    private let still = Seen(phase: .waiting, indicator: .spinner, words: "Still sending")
    private let long = Seen(
        phase: .long, indicator: .spinner, words: "Still sending. This takes long.",
        actions: [.cancel])
    private let stalled = Seen(
        phase: .stalled(Recovery()), indicator: nil,
        words: "Sending has stalled. Check the connection, then try again.",
        actions: [.cancel, .restart])

    @Test func `U10: each boundary of the default policy belongs to the later phase`() {
        let instant = Seen(phase: .instant)
        let waiting = Seen(phase: .waiting, indicator: .spinner)
        expect(
            [
                Boundary(seconds: 0.1, before: instant, at: waiting),
                Boundary(seconds: 1, before: waiting, at: text),
                Boundary(seconds: 3, before: text, at: still),
                Boundary(seconds: 10, before: still, at: long),
                Boundary(seconds: 30, before: long, at: stalled),
            ], ProgressPolicy())
    }

    @Test func `U11: the unhurried policy is busy without motion until one second`() {
        let busy = Seen(phase: .busy)
        expect(
            [
                Boundary(seconds: 0.1, before: Seen(phase: .instant), at: busy),
                Boundary(seconds: 1, before: busy, at: text),
                Boundary(seconds: 3, before: text, at: still),
                Boundary(seconds: 10, before: still, at: long),
                Boundary(seconds: 30, before: long, at: stalled),
            ], .unhurried)
    }

    @Test func `U11: the next change is each boundary in turn, and none when stalled`() {
        func changes(_ wait: Wait, _ policy: ProgressPolicy) -> [Duration] {
            var state = ProgressState(wait, policy)
            var moments: [Duration] = []
            while let next = state.nextChange {
                moments.append(next.sinceStart)
                _ = state.advance(to: next)
            }
            return moments
        }
        let seconds: [Double] = [0.1, 1, 3, 10, 20, 30]
        #expect(changes(wait, ProgressPolicy()) == seconds.map { .seconds($0) })
        #expect(changes(wait, .unhurried) == seconds.map { .seconds($0) })
        let silent: [Double] = [0.1, 1, 3, 10, 30]
        let unasked = Wait(.sending, initiator: .app)
        #expect(changes(unasked, ProgressPolicy()) == silent.map { .seconds($0) })
    }

    @Test func `U11: a policy with a boundary before the last boundary traps`() async {
        await #expect(processExitsWith: .success) {
            _ = ProgressPolicy(
                busyAfter: .zero, indicatorAfter: .zero, textAfter: .zero, longAfter: .seconds(2),
                stallAfter: .seconds(2), minimumVisible: .zero)
        }
        await #expect(processExitsWith: .failure) { _ = ProgressPolicy(busyAfter: .seconds(-1)) }
        await #expect(processExitsWith: .failure) {
            _ = ProgressPolicy(busyAfter: .milliseconds(101))
        }
        await #expect(processExitsWith: .failure) {
            _ = ProgressPolicy(indicatorAfter: .seconds(2))
        }
        await #expect(processExitsWith: .failure) { _ = ProgressPolicy(stillAfter: .seconds(10)) }
        await #expect(processExitsWith: .failure) { _ = ProgressPolicy(stillAfter: .zero) }
        await #expect(processExitsWith: .failure) { _ = ProgressPolicy(longAfter: .seconds(31)) }
    }

    @Test func `U10: time does not go back`() {
        var state = ProgressState(wait).at(.seconds(10))
        _ = state.handle(.signOfLife, at: .seconds(5))
        _ = state.advance(to: .zero)
        #expect(state.phase == .long)
        #expect(state.nextChange == .seconds(20))
    }

    @Test func `U10: limits of zero are passed by the first advance, with their cues`() {
        let policy = ProgressPolicy(busyAfter: .zero, indicatorAfter: .zero, textAfter: .zero)
        let wait = Wait(.sending, presentation: .obstructive(.all))
        var state = ProgressState(wait, policy)
        #expect(state.nextChange == .zero)
        let cues: [Cue] = [
            .moveFocus(.indicator), .announce(.activity(.sending), .polite),
        ]
        #expect(state.advance(to: .zero) == cues)
        #expect(state.advance(to: .zero) == [])
        #expect(state.handle(.restarted, at: .seconds(1)) == Array(cues.dropFirst()))
    }
}

@Suite struct ProgressExampleTests {
    /// The numbers of the browser tests B8.
    @Test(arguments: [
        (ProgressPolicy(), 0.2, 0.6), (ProgressPolicy(), 0.09, nil),
        (.unhurried, 1.1, 1.5), (.unhurried, 0.9, nil), (ProgressPolicy(), 0.7, nil),
    ])
    func `U12: an indicator stays for half a second, and a short wait shows none`(
        _ policy: ProgressPolicy, _ end: Double, _ hidden: Double?
    ) {
        let obstructive = Wait(.sending, presentation: .obstructive(.all))
        let ended = ProgressState(obstructive, policy).after(.succeeded, at: .seconds(end))
        #expect(ended.phase == .ended(.succeeded))
        #expect(!ended.isBlocking)
        #expect(ended.nextChange == hidden.map(Moment.seconds))
        guard let hidden else {
            #expect(ended.indicator == nil)
            #expect(ended.text == nil)
            return
        }
        let gone = Moment.seconds(hidden)
        #expect(ended.at(gone.advanced(by: .zero - nanosecond)).indicator == .spinner)
        #expect(ended.at(gone).indicator == nil)
        #expect(ended.at(gone).text == nil)
    }

    @Test func `U12: a wait that ends before its indicator announces nothing`() {
        for (policy, end) in [(ProgressPolicy(), 0.09), (.unhurried, 0.9)] {
            let script = ProgressScript(
                wait: wait, policy: policy, inputs: [(.seconds(end), .succeeded)], until: .ms(9_000)
            )
            #expect(script.lines == [])
        }
    }

    @Test func `U12: a failure replaces the indicator at once`() {
        let recovery = Recovery(reason: "The post is too long")
        let failed = ProgressState(wait).after(.failed(recovery), at: .seconds(0.2))
        #expect(failed.indicator == nil)
        #expect(failed.text == .ended(.sending, .failed(recovery)))
        #expect(failed.actions == [.restart])
        #expect(failed.nextChange == nil)
        let final = ProgressState(wait)
            .after(.failed(Recovery(canRestart: false)), at: .seconds(0.2))
        #expect(final.actions == [])
    }

    @Test func `U12: a wait that is restarted continues with the same indicator`() {
        let again = ProgressState(wait).after(.succeeded, at: .seconds(0.2))
            .after(.restarted, at: .seconds(0.55))
        #expect(again.phase == .instant)
        for time in [0.55, 0.6, 0.64, 0.65, 5] {
            #expect(again.at(.seconds(time)).indicator != nil)
        }
        // It appeared at 0.1 s, so the minimum is long over.
        #expect(again.after(.succeeded, at: .seconds(0.7)).indicator == nil)
        let later = ProgressState(wait).after(.succeeded, at: .seconds(0.2))
            .after(.restarted, at: .seconds(0.6))
        #expect(later.indicator == nil)
        #expect(later.at(.seconds(0.7)).indicator == .spinner)
    }

    @Test func `U13: the fraction never falls, and the style never changes`() {
        var state = ProgressState(Wait(.sending, style: .bar)).at(.seconds(1))
        #expect(state.fraction == nil)
        for (fraction, shown) in [
            (0, 0), (0.3, 0.3), (0.2, 0.3), (-1, 0.3), (.nan, 0.3), (.infinity, 1), (0.5, 1),
        ] {
            state = state.after(.fraction(fraction), at: .seconds(1))
            #expect(state.fraction == shown)
            #expect(state.indicator == .bar)
        }
        #expect(state.after(.restarted, at: .seconds(2)).fraction == 0)
    }

    @Test func `U13: a lower fraction is a sign of life`() {
        let state = ProgressState(wait).after(.fraction(0.5), at: .seconds(1))
            .after(.fraction(0.4), at: .seconds(29))
        #expect(state.at(.seconds(58.9)).phase == .long)
        #expect(state.at(.seconds(59)).phase == .stalled(Recovery()))
        #expect(state.at(.seconds(59)).fraction == nil)
    }

    @Test func `U13: the remaining time is shown from 5 % and 2 s`() {
        let start = ProgressState(wait).after(.fraction(0), at: .zero)
        let early = start.after(.fraction(0.05), at: .seconds(1))
        #expect(early.remaining == nil)
        #expect(early.at(.seconds(2).advanced(by: .zero - nanosecond)).remaining == nil)
        // 19 s after the first second, one of them has passed.
        #expect(early.at(.seconds(2)).remaining == .seconds(20))
        let little = start.after(.fraction(0.049), at: .seconds(3))
        #expect(little.remaining == nil)
        #expect(little.after(.fraction(0.5), at: .seconds(3)).remaining == .seconds(5))
    }

    @Test func `U13: the remaining time is rounded up to 5 s, 10 s or minutes`() {
        // Half is done at 128 s, so 128 s remain.
        let state = ProgressState(wait).after(.fraction(0), at: .zero)
            .after(.fraction(0.5), at: .seconds(128))
        for (left, shown) in [
            (128, 180), (121, 180), (120, 120), (61, 120), (60, 60), (51, 60), (50, 50), (31, 40),
            (30, 30), (26, 30), (25, 25), (6, 10), (5, 5), (1, 5),
        ] {
            let alive = state.after(.signOfLife, at: .seconds(Double(256 - left)))
            #expect(alive.remaining == .seconds(shown), "\(left) s are left")
        }
        #expect(state.after(.signOfLife, at: .seconds(256)).remaining == nil)
    }

    @Test func `U13: the remaining time of resumed work is by the speed since the first fraction`()
    {
        let resumed = ProgressState(wait).after(.fraction(0.5), at: .seconds(1))
        #expect(resumed.at(.seconds(9)).remaining == nil)
        // 1/8 took 10 s, and 3/8 are left.
        let going = resumed.after(.fraction(0.625), at: .seconds(11))
        #expect(going.remaining == .seconds(30))
        let soon = ProgressState(wait).after(.fraction(0.5), at: .seconds(10))
            .after(.fraction(0.625), at: .seconds(11))
        #expect(soon.remaining == nil)
        #expect(soon.at(.seconds(12)).remaining == .seconds(5))
        let restarted = going.after(.restarted, at: .seconds(20))
            .after(.fraction(0.5), at: .seconds(24))
        #expect(restarted.remaining == .seconds(5))
    }

    @Test func `U12: the text does not change after success`() {
        let state = ProgressState(wait, ProgressPolicy(minimumVisible: .seconds(60)))
            .after(.fraction(0), at: .zero).after(.fraction(0.5), at: .seconds(12))
        let ended = state.after(.succeeded, at: .seconds(13))
        #expect(ended.text == state.at(.seconds(13)).text)
        #expect(ended.at(.seconds(20)).text == ended.text)
        #expect(ended.remaining == nil)
    }

    @Test func `the actions have an order for drawing`() {
        let actions: Set<WaitAction> = [.restart, .cancel, .continueInBackground]
        #expect(actions.sorted() == [.cancel, .continueInBackground, .restart])
    }

    @Test func `U14: a wait stalls 30 s after its last sign of life`() {
        for input in [
            .signOfLife, .fraction(0.1), .fraction(0.1), .attempt(2),
        ] as [ProgressInput] {
            let alive = ProgressState(wait).after(input, at: .seconds(20))
            #expect(alive.at(.seconds(49.999)).phase == .long, "\(input)")
            #expect(alive.at(.seconds(50)).phase == .stalled(Recovery()), "\(input)")
        }
        let stalled = ProgressState(wait).after(.cause(.slow), at: .seconds(20)).at(.seconds(30))
        #expect(stalled.phase == .stalled(Recovery(cause: .slow)))
        #expect(stalled.actions == [.cancel, .restart])
        #expect(stalled.indicator == nil)
        let alive = stalled.after(.signOfLife, at: .seconds(31))
        #expect(alive.phase == .long)
        #expect(alive.indicator == .spinner)
        #expect(stalled.after(.restarted, at: .seconds(31)).phase == .instant)
    }

    @Test func `U14: a server that says how long it is busy is not an error`() {
        let cause = WaitCause.serverBusy(until: .seconds(1_000))
        let busy = ProgressState(wait).after(.cause(cause), at: .seconds(20))
        #expect(busy.at(.seconds(1_029)).phase == .long)
        // The server is late.
        #expect(busy.nextChange != nil)
        #expect(busy.at(.seconds(1_030)).phase == .stalled(Recovery(cause: cause)))
        let later = WaitCause.serverBusy(until: .seconds(2_000))
        #expect(busy.after(.cause(later), at: .seconds(1_040)).at(.seconds(2_029)).phase == .long)
        let free = busy.after(.cause(.unknown), at: .seconds(500))
        #expect(free.at(.seconds(529)).phase == .long)
        #expect(free.at(.seconds(530)).phase == .stalled(Recovery()))
        let unsure = ProgressState(wait).after(.cause(.serverBusy(until: nil)), at: .seconds(20))
        #expect(unsure.at(.seconds(30)).phase == .stalled(Recovery(cause: .serverBusy(until: nil))))
    }

    @Test(arguments: [WaitCause.offline, .signedOut])
    func `U14: a durable wait that is offline or signed out never becomes an error`(
        _ cause: WaitCause
    ) {
        let durable = ProgressState(Wait(.sending, isDurable: true))
        let paused = durable.after(.cause(cause), at: .seconds(1)).at(.seconds(100_000))
        #expect(paused.phase == .long)
        #expect(paused.text == .paused(.sending, ProofOfLife(), cause))
        #expect(paused.nextChange == nil)
        #expect(durable.at(.seconds(30)).after(.cause(cause), at: .seconds(31)).phase == .long)
        let lost = ProgressState(wait).after(.cause(cause), at: .seconds(1))
        #expect(lost.at(.seconds(30)).phase == .stalled(Recovery(cause: cause)))
    }

    @Test func `U16: starting at 10 s, a wait can be left`() {
        let durable = ProgressState(Wait(.sending, isDurable: true))
        #expect(durable.at(.seconds(9.999)).actions == [])
        #expect(durable.at(.seconds(10)).actions == [.cancel, .continueInBackground])
        #expect(durable.at(.seconds(30)).actions == [.cancel, .continueInBackground, .restart])
        let left = durable.after(.continuedInBackground, at: .seconds(11))
        #expect(left.phase == .ended(.continuedInBackground))
        #expect(left.after(.failed(Recovery()), at: .seconds(12)) == left.at(.seconds(12)))
    }

    @Test func `U17: with reduced motion, the indicator is a text that changes every 2 s`() {
        var state = ProgressState(wait).after(.reduceMotion(true), at: .zero)
        var texts: [String] = []
        while let next = state.nextChange, next < .seconds(16) {
            let before = state.text
            _ = state.advance(to: next)
            #expect(state.indicator == .text)
            guard state.text != before, let text = state.text else { continue }
            texts.append(
                "\(next.sinceStart / .seconds(1)) \(ProgressTexts.english.words(for: text))")
        }
        #expect(
            texts == [
                "0.1 Sending", "3.0 Still sending. Sorry for the wait.",
                "5.0 Still sending, 5 seconds", "7.0 Still sending, 7 seconds",
                "9.0 Still sending, 9 seconds",
                "10.0 Still sending, 9 seconds. This takes long.",
                "11.0 Still sending, 11 seconds. This takes long.",
                "13.0 Still sending, 13 seconds. This takes long.",
                "15.0 Still sending, 15 seconds. This takes long.",
            ])
    }

    @Test func `U17: motion can be reduced during a wait`() {
        let moving = ProgressState(wait).at(.seconds(6))
        #expect(moving.indicator == .spinner)
        #expect(moving.text == .still(.sending, ProofOfLife(), apologizes: false))
        let still = moving.after(.reduceMotion(true), at: .seconds(6))
        #expect(still.indicator == .text)
        #expect(
            still.text == .still(.sending, ProofOfLife(elapsed: .seconds(5)), apologizes: false))
        #expect(still.nextChange == .seconds(7))
        let again = still.after(.attempt(2), at: .seconds(8))
        let life = ProofOfLife(attempt: 2, elapsed: .seconds(7))
        #expect(again.text == .still(.sending, life, apologizes: false))
        #expect(still.after(.reduceMotion(false), at: .seconds(6)) == moving)
        let slow = still.after(.cause(.slow), at: .seconds(10))
        #expect(
            slow.text
                == .long(
                    .sending, ProofOfLife(elapsed: .seconds(9)), remaining: nil, cause: .slow))
    }

    @Test func `U17: a wait without an indicator is the same with reduced motion`() {
        let bare = ProgressState(Wait(.loading, style: .none))
        let reduced = bare.after(.reduceMotion(true), at: .zero)
        for time in [0.05, 0.1, 0.9, 1, 2.9, 3, 5, 10, 30] {
            #expect(bare.at(.seconds(time)).appearance == reduced.at(.seconds(time)).appearance)
            #expect(bare.at(.seconds(time)).indicator == nil)
        }
        #expect(bare.at(.seconds(1)).text == .activity(.loading))
    }

    @Test func `#37: a native indicator keeps its label unless the app sets one`() {
        #expect(ProgressState(wait).appearance.wait.accessibilityLabel == nil)
        #expect(Wait(.sending, accessibilityLabel: "Sends").accessibilityLabel == "Sends")
    }
}
