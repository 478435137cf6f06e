import Foldback

@testable import FoldbackSync

/// For tests that let another authority decide, and compare devices with these books.
extension InProcessAuthority {
    /// An accepted intent as it was sent, with its effect.
    struct Kept: Sendable {
        let sent: RecordedEvent
        let event: ConfirmedEvent<P.Event>
    }

    /// Removes all decisions, and returns the accepted ones in order.
    func removeAll() -> [Kept] {
        books.withLock { books in
            defer { books = Books() }
            return books.events.compactMap { event in
                event.origin.flatMap { books.decided[$0] }.map {
                    Kept(sent: $0.recorded, event: event)
                }
            }
        }
    }

    /// Takes over what the other authority has decided.
    ///
    /// - Parameters:
    ///   - verdicts: the verdicts on intents. Those that are not final are ignored.
    ///   - head: the other authority's head.
    ///   - page: returns its events after a position; none after the last one.
    func follow(
        verdicts: [(Submission<P.Event>, Verdict<P.Event>)], head: Position,
        page: (Position) -> [ConfirmedEvent<P.Event>]
    ) {
        books.withLock { books in
            while true {
                let events = page(books.events.last?.position ?? 0)
                if events.isEmpty { break }
                for event in events {
                    guard let applied = event.event else { continue }
                    // The other authority has applied it to the same state.
                    _ = try? books.state.apply(applied, event.context)
                    books.events.append(event)
                }
            }
            books.position = max(books.position, head)
            for (intent, verdict) in verdicts where books.decided[intent.id] == nil {
                if case .later = verdict { continue }
                books.decided[intent.id] = Decided(recorded: intent.recorded, verdict: verdict)
            }
        }
    }
}
