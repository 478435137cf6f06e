/// A projection's state that survives an `apply` that throws after it has changed something (F9).
///
/// No copy is taken for each event. Instead an earlier state is kept with the events since: on a throw
/// the value is dropped and these are folded again. How far back that state may lie doubles from one
/// throw to the next (1, 2, 4, … events, at most 1,024), so folding n events of which any number throw
/// costs at most 2n applications, and log n copies where none does.
package struct GuardedState<P: Projection>: Sendable {
    private static var reachMax: Int { 1_024 }

    package private(set) var value: P
    private var earlier: P
    private var since: [Folded] = []
    private var reach = 1

    package init(_ value: P) {
        self.value = value
        earlier = value
    }

    /// Applies the event; nil, or why it does not apply, after which the state is as before.
    package mutating func apply(_ folded: Folded) -> (any Error)? {
        if since.count >= reach {
            keep()
            reach = min(reach * 2, Self.reachMax)
        }
        do {
            try Self.apply(folded, to: &value)
            since.append(folded)
            return nil
        } catch {
            foldAgain()  // mutant: guarded-throw
            reach = 1
            return error
        }
    }

    /// Takes back the event applied last.
    package mutating func undoLast() {
        precondition(!since.isEmpty, "nothing was applied that could be undone")
        since.removeLast()
        foldAgain()
    }

    /// Goes on from here: the value is about to be shared with readers, who keep it anyway.
    package mutating func keep() {
        earlier = value
        since.removeAll(keepingCapacity: true)
    }

    private mutating func foldAgain() {
        value = earlier
        for folded in since {
            // These have been applied before; one that throws now depends on more than its state and
            // its context, against F12. Leaving it out is all that is left to do.
            do { try Self.apply(folded, to: &value) } catch { continue }
        }
        keep()
    }

    private static func apply(_ folded: Folded, to value: inout P) throws {
        switch folded.payload.content {
        case .event(let event):
            guard let event = event as? P.Event else {
                preconditionFailure("an event is \(type(of: event)), not \(P.Event.self)")
            }
            try value.apply(event, folded.context)
        case .unreadable(let why): throw UnreadableEvent(reason: why)
        }
    }
}

/// An event that this code cannot decode, where it should have been applied (L5).
package struct UnreadableEvent: Error, CustomStringConvertible {
    let reason: String
    package var description: String { Self.words + reason }
    private static let words = "the event cannot be read: "

    /// Whether a fault is of an event that its code could not read.
    package static func isReason(of fault: Fault) -> Bool { fault.reason.hasPrefix(words) }
}
