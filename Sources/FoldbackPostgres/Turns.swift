#if Postgres
    import FoldbackServer
    import FoldbackSync
    import Synchronization

    /// Lets several servers that decide for one space take turns.
    ///
    /// A server that has lost a race must read before it decides again, and the winner need not. So the winner
    /// would win every race. A loser says that it wants a turn. Then the winner pauses once, and longer each
    /// time until it loses.
    final class Turns: Sendable {
        private struct Turn {
            /// Whether another server wants to append the next group.
            var isWanted = false
            /// The pauses since this server lost the last race.
            var pauseCount = 0
        }

        private static let spacesMax = 4_096
        /// The spaces whose last race this server has won.
        private let won = Mutex<[SpaceName: Turn]>([:])

        /// Waits if another server wants to append to the space first.
        func wait(in space: SpaceName) async {
            let pause: Int? = won.withLock { won in
                guard var turn = won[space], turn.isWanted else { return nil }
                turn.isWanted = false
                turn.pauseCount = min(turn.pauseCount + 1, 6)
                won[space] = turn
                return 2 << turn.pauseCount
            }
            if let pause { await SyncSources.system.sleep(.milliseconds(pause)) }
        }

        func note(_ space: SpaceName, won hasWon: Bool) {
            won.withLock { won in
                if !hasWon {
                    won[space] = nil
                } else if won[space] == nil {
                    if won.count >= Self.spacesMax { won = [:] }
                    won[space] = Turn()
                }
            }
        }

        /// Notes that another server wants a turn. Losers do not wait for each other.
        func yield(_ space: SpaceName) { won.withLock { $0[space]?.isWanted = true } }
    }
#endif
