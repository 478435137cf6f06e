import Testing

@testable import feed_web

/// These tests ask whether the supervisor restarts a server that crashes at once each time without
/// using the whole processor, and gives up on a server that cannot start at all.
@Suite struct RestartsTests {
    @Test func `the next child starts at once after a crash or a kill`() {
        var restarts = ready()
        #expect(restarts.pause(after: .seconds(60), isReady: true, isKilled: false) == .zero)
        for _ in 0..<20 {
            #expect(restarts.pause(after: .zero, isReady: true, isKilled: true) == .zero)
        }
        #expect(restarts.count == 21)
    }

    @Test func `pauses double while children crash soon`() {
        var restarts = ready()
        let pauses = (0..<12).map { _ in
            restarts.pause(after: .seconds(1), isReady: true, isKilled: false)
        }
        #expect(
            pauses.prefix(4) == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(pauses.last == .seconds(30))
        #expect(restarts.pause(after: .seconds(5), isReady: true, isKilled: false) == .zero)
    }

    @Test func `a server that was never ready is given up`() {
        var restarts = Restarts()
        let pauses = (0..<3).map { _ in
            restarts.pause(after: .zero, isReady: false, isKilled: false)
        }
        #expect(pauses == [.zero, .milliseconds(100), nil])
    }

    @Test func `a server that was ready before is never given up`() {
        var restarts = ready()
        for _ in 0..<100 {
            #expect(restarts.pause(after: .zero, isReady: false, isKilled: false) != nil)
        }
    }

    private func ready() -> Restarts {
        var restarts = Restarts()
        restarts.wasReady = true
        return restarts
    }
}
