import Foldback
import FoldbackUI
import Testing

/// The article's two samples (signing in, a chart that loads) and the rules for announcements and
/// focus, as scripts: what a person hears, and where the focus goes.
@Suite struct ProgressCueTests {
    private static let signIn = Wait(
        "signing in", presentation: .obstructive(.all), initiator: .user(origin: "sign-in"))
    private static let chart = Wait("loading the chart")

    @Test func `#58: signing in moves the focus to the overlay and back to the button`() {
        let script = ProgressScript(
            wait: Self.signIn, inputs: [(.ms(99), .signOfLife), (.ms(3_500), .succeeded)],
            until: .seconds(60))
        #expect(
            script.lines == [
                "100 focus: indicator",
                "1000 polite: Signing in",
                "3000 polite: Still signing in",
                "3500 focus back: origin(\"sign-in\")",
                "3500 polite: Finished signing in",
            ])
    }

    @Test func `#58: signing in with a wrong password says so at once, even after a short wait`() {
        let wrong = Recovery(reason: "The password is wrong")
        let words = "Signing in failed. The password is wrong. Try again."
        for (end, focus) in [(50, []), (150, ["100 focus: indicator"])] {
            let script = ProgressScript(
                wait: Self.signIn, inputs: [(.ms(end), .failed(wrong))], until: .seconds(60))
            let back = focus.map { _ in "\(end) focus back: origin(\"sign-in\")" }
            #expect(script.lines == focus + back + ["\(end) assertive: \(words)"])
        }
    }

    @Test func `#58: a chart that loads never has a focus cue`() {
        let script = ProgressScript(
            wait: Self.chart,
            inputs: [
                (.zero, .fraction(0)), (.ms(2_500), .fraction(0.05)),
                (.ms(12_000), .cause(.slow)),
                (.ms(25_000), .signOfLife), (.ms(60_000), .signOfLife), (.ms(85_000), .succeeded),
            ], until: .seconds(90))
        #expect(
            script.lines == [
                "1000 polite: Loading the chart",
                "3000 polite: Still loading the chart",
                "10000 polite: Still loading the chart, 10 seconds, about 40 seconds left",
                "20000 polite: Still loading the chart, 20 seconds, about 30 seconds left."
                    + " The connection is slow.",
                "40000 polite: Still loading the chart, 40 seconds, about 10 seconds left."
                    + " The connection is slow.",
                "55000 assertive: Loading the chart has stalled."
                    + " The connection is slow. Find a better connection, then try again.",
                "80000 polite: Still loading the chart, 1 minute 20 seconds."
                    + " The connection is slow.",
                "85000 polite: Finished loading the chart",
            ])
    }

    @Test func `U15: the end is announced only if the start was`() {
        for end in [ProgressInput.succeeded, .cancelled, .continuedInBackground] {
            #expect(
                ProgressScript(wait: Self.chart, inputs: [(.ms(999), end)], until: .ms(999))
                    .lines == [])
            let lines = ProgressScript(
                wait: Self.chart, inputs: [(.ms(1_000), end)], until: .ms(1_000)
            ).lines
            #expect(lines.count == 2, "\(lines)")
        }
    }

    @Test func `U15: the end is announced if the start was announced before a restart`() {
        let script = ProgressScript(
            wait: Self.chart,
            inputs: [(.seconds(5), .restarted), (.ms(5_500), .succeeded)], until: .seconds(9))
        #expect(script.lines.last == "5500 polite: Finished loading the chart")
        // The second work was never announced.
        let again = ProgressScript(
            wait: Self.chart,
            inputs: [
                (.seconds(5), .succeeded), (.ms(5_100), .restarted), (.ms(5_500), .cancelled),
            ],
            until: .seconds(9))
        #expect(again.lines.last == "5000 polite: Finished loading the chart")
    }

    @Test func `U15: a stalled wait announces each new instruction`() {
        let script = ProgressScript(
            wait: Self.chart,
            inputs: [
                (.seconds(31), .cause(.offline)), (.seconds(32), .cause(.offline)),
                (.seconds(33), .cause(.signedOut)),
            ], until: .seconds(90))
        let words = script.lines.suffix(3).map { $0.replacing("Loading the chart", with: "It") }
        #expect(
            words == [
                "30000 assertive: It has stalled. Check the connection, then try again.",
                "31000 assertive: It has stalled. The device is offline."
                    + " Connect the device to a network, then try again.",
                "33000 assertive: It has stalled. You are signed out. Sign in, then try again.",
            ])
    }

    @Test func `U15: a wait that the app began is silent`() {
        let inputs: [(Moment, ProgressInput)] = [
            (.seconds(35), .signOfLife), (.seconds(90), .failed(Recovery())),
        ]
        let quiet = Wait(.loading, initiator: .app)
        #expect(ProgressScript(wait: quiet, inputs: inputs, until: .seconds(99)).lines == [])
        let obstructive = Wait(.loading, presentation: .obstructive(.all), initiator: .app)
        #expect(
            ProgressScript(wait: obstructive, inputs: inputs, until: .seconds(99)).lines
                == ["100 focus: indicator", "90000 focus back: previous"])
    }

    @Test func `U15: a durable wait says when it will continue`() {
        let script = ProgressScript(
            wait: Wait(.sending, isDurable: true), inputs: [(.ms(500), .cause(.offline))],
            until: .seconds(1_000))
        #expect(
            script.lines.dropFirst(2) == [
                "10000 polite: Sending continues when the device is online, 10 seconds",
                "20000 polite: Sending continues when the device is online, 20 seconds",
                "40000 polite: Sending continues when the device is online, 40 seconds",
                "80000 polite: Sending continues when the device is online, 1 minute 20 seconds",
            ])
    }

    @Test func `U16: without an origin, success goes to the top, and any other end goes back`() {
        let wait = Wait(.loading, presentation: .obstructive(.all))
        func lines(_ end: Int, _ input: ProgressInput) -> [String] {
            ProgressScript(wait: wait, inputs: [(.ms(end), input)], until: .seconds(1)).lines
                .filter { $0.contains("focus") }
        }
        #expect(lines(200, .succeeded) == ["100 focus: indicator", "200 focus back: top"])
        // The new screen is there although the overlay was not.
        #expect(lines(50, .succeeded) == ["50 focus back: top"])
        for input in [ProgressInput.failed(Recovery()), .cancelled, .continuedInBackground] {
            #expect(lines(200, input) == ["100 focus: indicator", "200 focus back: previous"])
            #expect(lines(50, input) == [])
        }
    }

    @Test func `U16: after a stall, a restart moves the focus when the overlay appears again`() {
        let script = ProgressScript(
            wait: Self.signIn,
            inputs: [
                (.seconds(31), .restarted), (.ms(31_500), .restarted), (.seconds(32), .cancelled),
            ], until: .seconds(40))
        #expect(
            script.lines.filter { $0.contains("focus") } == [
                "100 focus: indicator", "31100 focus: indicator",
                "32000 focus back: origin(\"sign-in\")",
            ])
        let fast = ProgressScript(
            wait: Self.signIn,
            inputs: [(.seconds(31), .restarted), (.ms(31_050), .succeeded)], until: .seconds(40))
        // The overlay with the error had the focus.
        #expect(
            fast.lines.filter { $0.contains("focus") } == [
                "100 focus: indicator", "31050 focus back: origin(\"sign-in\")",
            ])
    }

    @Test func `U16: the overlay is visible from the indicator to the end, also with an error`() {
        let state = ProgressState(Self.signIn)
        #expect(!state.at(.ms(99)).appearance.isOverlayVisible)
        #expect(state.at(.ms(100)).appearance.isOverlayVisible)
        #expect(state.at(.seconds(30)).appearance.isOverlayVisible)
        #expect(!state.after(.restarted, at: .seconds(31)).appearance.isOverlayVisible)
        #expect(!state.after(.succeeded, at: .ms(200)).appearance.isOverlayVisible)
        #expect(!ProgressState(Self.chart).at(.seconds(1)).isOverlayVisible)
        #expect(state.appearance.isBlocked(.items(1)))
        #expect(!state.after(.succeeded, at: .ms(50)).appearance.isBlocked(.all))
    }

    @Test func `U16: a restart keeps the focus, or moves it to the visible overlay again`() {
        let running = ProgressScript(
            wait: Self.signIn, inputs: [(.ms(300), .restarted)], until: .ms(900))
        #expect(running.lines == ["100 focus: indicator"])
        let ended = ProgressScript(
            wait: Self.signIn, inputs: [(.ms(200), .succeeded), (.ms(300), .restarted)],
            until: .ms(900))
        #expect(
            ended.lines == [
                "100 focus: indicator", "200 focus back: origin(\"sign-in\")",
                "300 focus: indicator",
            ])
    }

    @Test func `U16: an obstructive wait blocks its scope from the start to the end`() {
        let wait = Wait(.saving, presentation: .obstructive(.items(1, 2)))
        let start = ProgressState(wait)
        for state in [start, start.at(.seconds(5)), start.at(.seconds(30))] {
            #expect(state.isBlocking)
            #expect(state.isBlocked(.items(2, 3)))
            #expect(state.isBlocked(.all))
            #expect(!state.isBlocked(.items(3)))
            #expect(!state.isBlocked(.items("1")))
        }
        for end in [ProgressInput.succeeded, .failed(Recovery()), .cancelled] {
            #expect(!start.after(end, at: .ms(200)).isBlocked(.all))
        }
        #expect(!ProgressState(Self.chart).isBlocked(.all))
    }

    @Test func `U16: the blocking summary is the sum of the scopes`() {
        func state(_ presentation: WaitPresentation) -> ProgressState {
            ProgressState(Wait(.saving, presentation: presentation))
        }
        let states = [
            state(.obstructive(.items(1))), state(.parallel), state(.obstructive(.items("a", "b"))),
        ]
        #expect(states.blocking == Scope.items(1).union(.items("b", "a")))
        #expect(states.map(\.appearance).blocking == states.blocking)
        #expect((states + [state(.obstructive(.all))]).blocking == .all)
        #expect([state(.parallel)].blocking.isEmpty)
    }

    @Test func `#42: disjoint scopes do not intersect, and an empty scope intersects none`() {
        #expect(!Scope.items(1, 2).intersects(.items(3)))
        #expect(!Scope.all.intersects(.nothing))
        #expect(!Scope.nothing.intersects(.all))
        #expect(Scope.all.intersects(.all))
        // An id that is a string is one item, not a sequence of characters.
        #expect(!Scope.items("post 7").intersects(.items("post 8")))
        #expect(Scope.items("post 7").intersects(.items("post 7", "post 8")))
        #expect(Scope.items(in: [Int]()) == .nothing)
    }
}
