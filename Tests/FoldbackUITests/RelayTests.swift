import FoldbackTesting
import Synchronization
import TestSupport
import Testing

@testable import FoldbackUI

/// Born from the question whether a reader can send whole values to a receiver of any speed, without
/// knowing what the receiver has.
@MainActor @Suite struct RelayTests {
    @Test func `U25: a value that changes and changes back before it is shown is not shown again`()
    {
        let relay = Relay(1)
        #expect(relay.send(2))
        #expect(relay.send(1))
        #expect(relay.sendCount == 2)
        #expect(relay.show(relay.sent) == nil)
        #expect(!relay.send(1))
        #expect(relay.send(2))
        #expect(relay.show(relay.sent) == 2)
        #expect(relay.show(relay.sent) == nil)
    }

    /// Property: whenever the receiver takes what is in the mailbox, also while the reader compares
    /// the next value, it shows each value that differs from the value shown before, and no other. In
    /// the end, it shows the last value.
    @Test func `U25: a receiver of any speed shows each value that it takes and lacks`() {
        let first = testSeed("relay", variable: "RELAY_SEED")
        for seed in first..<first + TestEffort.value(quick: 200, full: 2_000) {
            let receiver = Receiver(seed)
            receiver.run()
            #expect(receiver.problem == nil, "seed \(seed)")
        }
    }
}

/// A reader, a mailbox and its receiver. Values are equal if their remainders are.
@MainActor private final class Receiver {
    private var random: SeededGenerator
    private var shown = 0
    private var inMailbox: Relay<Int>.Version?
    private(set) var problem: String?
    private lazy var relay: Relay<Int> = Relay(0) { [weak self] old, new in
        MainActor.assumeIsolated { self?.maybeTake() }
        return old % 3 == new % 3
    }

    init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

    func run() {
        for _ in 0..<40 {
            if relay.send(Int.random(in: 0..<9, using: &random)) { inMailbox = relay.sent }
            maybeTake()
        }
        take()
        if shown % 3 != relay.sent.value % 3 { problem = "\(shown) stays, not \(relay.sent.value)" }
    }

    private func maybeTake() { if random.oneIn(3) { take() } }

    private func take() {
        guard let version = inMailbox else { return }
        inMailbox = nil
        if let next = relay.show(version) {
            if next % 3 == shown % 3 { problem = "\(next) is shown after \(shown)" }
            shown = next
        } else if version.value % 3 != shown % 3 {
            problem = "\(version.value) is not shown after \(shown)"
        }
    }
}
