import Foldback
import TestSupport
import Testing

/// Question: how long does the writer wait for callers that it has just resumed (L3)?
///
/// An idle store must commit at once, and a caller that does not come back must not cost more than
/// a small part of a flush.
@Suite struct ReturningCallersTests {
    private static let quiet = Limits.quietNanosecondsMax

    /// Lets the writer look at an empty queue at these times, and returns whether it looks again
    /// after each.
    private static func looks(_ returning: inout ReturningCallers, at times: UInt64...) -> [Bool] {
        times.map { returning.isWorthWaiting(at: $0) }
    }

    @Test func `L3: with nobody expected, the writer does not wait`() {
        var returning = ReturningCallers()
        returning.begin(with: 1, at: 1_000)
        let first = Self.looks(&returning, at: 1_000)
        returning.expect(1, at: 2_000)
        returning.begin(with: 1, at: 3_000)
        let second = Self.looks(&returning, at: 3_000)
        #expect(first == [false] && second == [false])
    }

    @Test func `L3: each caller that comes back renews the wait for the others`() {
        var returning = ReturningCallers()
        returning.expect(3, at: 0)
        returning.begin(with: 1, at: 10)
        let first = Self.looks(&returning, at: 20, 20 + Self.quiet)
        returning.joined(1, at: 21 + Self.quiet)
        let second = Self.looks(&returning, at: 22 + Self.quiet, 22 + 2 * Self.quiet)
        returning.joined(1, at: 23 + 2 * Self.quiet)
        let third = Self.looks(&returning, at: 24 + 2 * Self.quiet)
        #expect(first == [true, true] && second == [true, true] && third == [false])
    }

    @Test func `L3: after a miss, nobody is expected until the next commit`() {
        var returning = ReturningCallers()
        returning.expect(2, at: 0)
        returning.begin(with: 1, at: 10)
        let first = Self.looks(&returning, at: 10, 11 + Self.quiet, 12 + Self.quiet)
        returning.begin(with: 0, at: 13 + Self.quiet)
        let second = Self.looks(&returning, at: 14 + Self.quiet)
        #expect(first == [true, false, false] && second == [false])
        #expect(returning.missing == 0)
    }

    @Test func `L3: requests of others do not renew the wait`() {
        var returning = ReturningCallers()
        returning.expect(2, at: 0)
        returning.begin(with: 1, at: 10)
        let first = Self.looks(&returning, at: 10)
        returning.joined(0, at: Self.quiet)
        let second = Self.looks(&returning, at: 11 + Self.quiet)
        #expect(first == [true] && second == [false])
    }

    @Test func `L3: an idle store commits at once`() {
        var returning = ReturningCallers()
        returning.expect(100, at: 0)
        returning.begin(with: 1, at: Limits.returnNanosecondsMax + 1)
        let looks = Self.looks(&returning, at: Limits.returnNanosecondsMax + 2)
        #expect(looks == [false] && returning.missing == 0)
    }

    /// The property: whatever comes when, the waits of one transaction add up to at most the limit,
    /// and each ends at most one look after it.
    @Test(arguments: 0..<50)
    func `L3: one transaction never waits longer than its limit`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var returning = ReturningCallers()
        returning.expect(Int.random(in: 0...300, using: &random), at: 0)
        var now: UInt64 = 5
        returning.begin(with: 1, at: now)
        var waited: UInt64 = 0
        while returning.isWorthWaiting(at: now) {
            let step = UInt64.random(in: 0...2_000, using: &random)
            now += step
            waited += step
            guard random.oneIn(3) else { continue }
            returning.joined(Int.random(in: 0...2, using: &random), at: now)
            // Deciding on a request takes time, but is not waiting.
            now += UInt64.random(in: 0...5_000, using: &random)
        }
        #expect(waited <= Limits.gatherNanosecondsMax + 2_000, "seed \(seed)")
    }
}
