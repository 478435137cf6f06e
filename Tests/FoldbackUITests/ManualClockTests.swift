import FoldbackUI
import Testing

@Suite struct ManualClockTests {
    private let clock = ManualClock(start: .seconds(5))

    @Test func `a sleeper wakes when its time has come, and not before`() async {
        await withTaskGroup(of: Double.self) { group in
            for seconds in [8.0, 6, 7, 9] {
                group.addTask { [clock] in
                    await clock.sources.sleep(.seconds(seconds))
                    return seconds
                }
            }
            await clock.waitForSleepers(4)
            #expect(clock.wakeUps == [6, 7, 8, 9].map(Moment.seconds))
            clock.advance(by: .seconds(3))
            #expect(clock.now == .seconds(8))
            #expect(clock.wakeUps == [.seconds(9)])
            let woken = [await group.next(), await group.next(), await group.next()]
            #expect(Set(woken) == [6, 7, 8])
            clock.advance(by: .seconds(1))
        }
        #expect(clock.wakeUps == [])
    }

    @Test func `a moment that has come is not waited for`() async {
        await clock.sources.sleep(.seconds(5))
        await clock.sources.sleep(.zero)
        await clock.waitForSleepers(0)
        #expect(clock.sources.now() == .seconds(5))
    }

    @Test func `a frame wakes those who wait for it, and nobody else`() async {
        let frame = Task { await clock.sources.frame() }
        let sleeper = Task { await clock.sources.sleep(.seconds(6)) }
        await clock.waitForFrames(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(500))
        clock.frame()
        await frame.value
        #expect(clock.wakeUps == [.seconds(6)])
        clock.advance(by: .milliseconds(500))
        await sleeper.value
    }

    @Test func `a canceled task stops waiting`() async {
        let tasks = [
            Task { await clock.sources.sleep(.seconds(9)) }, Task { await clock.sources.frame() },
            Task { await clock.waitForSleepers(7) },
        ]
        await clock.waitForSleepers(1)
        await clock.waitForFrames(1)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        #expect(clock.wakeUps == [])
    }
}
