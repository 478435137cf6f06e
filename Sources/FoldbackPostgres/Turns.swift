#if Postgres
    import FoldbackServer
    import FoldbackSync
    import Synchronization

    /// Lets several servers that decide for one space take turns.
    ///
    /// A server that has lost a race must read before it decides again, and the winner need not. So the winner
    /// would win every race. A loser says that it wants a turn, and then the winner pauses once.
    final class Turns: Sendable {
        private struct Turn {
            /// Whether this server appended the last group.
            var hasWon: Bool
            var pausesUntil: ContinuousClock.Instant?
        }

        /// As long as a loser needs to read, to decide, and to append.
        private static let pause: Duration = .milliseconds(4)
        private static let spacesMax = 4_096
        private let turns = Mutex<[SpaceName: Turn]>([:])

        /// Waits if another server wants to append to the space first.
        func wait(in space: SpaceName) async {
            let until = turns.withLock { $0[space]?.pausesUntil }
            guard let until, until > .now else { return }
            await SyncSources.system.sleep(ContinuousClock.now.duration(to: until))
        }

        func note(_ space: SpaceName, won hasWon: Bool) {
            turns.withLock { turns in
                if turns.count >= Self.spacesMax { turns = [:] }
                turns[space] = Turn(hasWon: hasWon)
            }
        }

        /// Notes that another server wants a turn. Of several losers, none waits for the others.
        func yield(_ space: SpaceName) {
            turns.withLock { turns in
                guard turns[space]?.hasWon == true else { return }
                turns[space]?.pausesUntil = .now.advanced(by: Self.pause)
            }
        }
    }
#endif
