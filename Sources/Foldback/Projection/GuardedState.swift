/// A projection's state that guards against an `apply` that changes the state and then throws (F9).
///
/// Such an `apply` breaks the contract of ``Projection``, but a partial change must not reach the
/// view or a checkpoint. A copy before each event would prevent that, and would copy storage at
/// each event. Instead an earlier state is kept together with the events since then:
///
/// ```
///  earlier ── since[0] ── since[1] ── … ──▶ value
/// ```
///
/// - Invariant 1: `value` is `earlier` with the events of `since` applied in order. None of them
///   threw.
/// - Invariant 2: `since` has at most `reach` events, and `reach` is at most 1,024.
///
/// If an event throws, `value` is dropped and folded again from `earlier` (invariant 1 makes this
/// the state before the event). The same steps undo the last event.
///
/// Cost: `earlier` moves up to `value` when `since` is full, and then `reach` doubles. It also
/// moves up after each throw, and then `reach` is 1 again. So an event is folded again at most
/// once, and n events cost at most 2n applications, however many of them throw. If none throws,
/// `earlier` moves up 10 times in the first 1,023 events, and then once in 1,024 events. After each
/// move, the next `apply` copies the storage that it changes.
package struct GuardedState<P: Projection>: Sendable {
    private static var reachMax: Int { 1_024 }

    private var since: [Folded] = []
    private var reach = 1
    private var states: States<P>

    package init(_ value: P) { states = States(value: value, earlier: value) }

    package var value: P { states.value }

    /// Applies the event. If `apply` throws, the state is as before, and the error is returned.
    ///
    /// It is inlined, because a call would look up this type's metadata for each event.
    @inline(__always)
    package mutating func apply(_ folded: Folded) -> (any Error)? {
        if since.count >= reach {
            keep()
            reach = min(reach * 2, Self.reachMax)
        }
        do {
            makeUnique()
            try Self.apply(folded, to: &states.value)
            since.append(folded)
            return nil
        } catch {
            foldAgain()  // mutant: guarded-throw
            reach = 1
            return error
        }
    }

    /// Undoes the last event that was applied.
    ///
    /// - Precondition: an event was applied since the last ``keep()``.
    package mutating func undoLast() {
        precondition(!since.isEmpty, "no event was applied since the state was kept")
        since.removeLast()
        foldAgain()
    }

    /// Makes the present value the earlier state. Call it when readers are about to keep the value
    /// anyway.
    package mutating func keep() {
        makeUnique()
        states.earlier = states.value
        since.removeAll(keepingCapacity: true)
    }

    private mutating func foldAgain() {
        makeUnique()
        states.value = states.earlier
        for folded in since {
            // This event was applied before without an error. If it throws now, the projection
            // depends on more than state and context, which breaks F12. It can only be left out.
            do { try Self.apply(folded, to: &states.value) } catch { continue }
        }
        keep()
    }

    /// Copies the states if another guard shares them.
    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&states) { copyStates() }
    }

    @inline(never)
    private mutating func copyStates() {
        states = States(value: states.value, earlier: states.earlier)
    }

    private static func apply(_ folded: Folded, to value: inout P) throws {
        switch folded.payload.content {
        case .event(let event): try P._apply(event, folded.context, to: &value)
        case .unreadable(let why): throw UnreadableEvent(reason: why)
        }
    }
}

/// The states of a ``GuardedState``, in an object of their own.
///
/// So the guard and ``Fold`` have the same layout for all projections. Else unspecialized code would
/// look up their layout each time it reads a field that follows a state.
///
/// `@unchecked Sendable`: a guard changes the states only while no other guard shares the object.
private final class States<P: Projection>: @unchecked Sendable {
    var value: P
    var earlier: P

    init(value: P, earlier: P) {
        self.value = value
        self.earlier = earlier
    }
}

/// The error for an event that should be applied, and that this code cannot decode (L5).
package struct UnreadableEvent: Error, CustomStringConvertible {
    let reason: String
    package var description: String { Fault.unreadableWords + reason }
}

extension Fault {
    /// Creates the fault for an error of `apply` or of the codec. An error of an app that has the
    /// words for an unreadable event gets other words.
    package init(sequence: LogSequence, origin: EventContext.Origin, error: any Error) {
        var reason = error.words
        if !(error is UnreadableEvent), reason.hasPrefix(Self.unreadableWords) {
            reason = "apply failed: " + reason
        }
        self.init(sequence: sequence, origin: origin, reason: reason)
    }
}
