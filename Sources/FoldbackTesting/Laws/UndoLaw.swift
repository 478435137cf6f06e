import Foldback

/// P18: undo of the newest intent gives the view before it.
///
/// The last events of the script are recorded at its end, each in a log of its own, and undone at
/// once, after they were sent, after they were accepted, and after they were confirmed. In a log with
/// an overlay, confirming the newest intent would change the order of events, so that is left out.
extension Trial {
    /// Returns nil if the projection is not undoable.
    func undoGivesTheViewBefore() async throws -> Violation? {
        guard P.self is any Undoable.Type, let committed = logSteps.last?.committed else {
            return nil
        }
        for event in script.events.suffix(3) {
            for progress in Progress.allCases {
                let store = try LogUnderTest<P>.store(on: committed)
                if let violation = try await undoing(event, after: progress, in: store) {
                    return violation
                }
            }
        }
        return nil
    }

    /// How far an intent got before it is undone.
    private enum Progress: String, CaseIterable {
        case recorded, sent, accepted, confirmed
    }

    private func undoing(
        _ event: P.Event, after progress: Progress, in store: Store<P>
    ) async throws -> Violation? {
        let before = store.view
        let hasOverlay = !store.overlay.isEmpty
        let number: IntentNumber
        do throws(CommandError) { number = try await store.record(event).number } catch {
            if case .inapplicable = error { return nil }
            throw error
        }
        switch progress {
        case .recorded: break
        case .sent: _ = await store.carryOut(.attempt(number))
        case .accepted where script.kind == .downlink: _ = try await store.acknowledge(number)
        case .confirmed where !hasOverlay: try await confirm(event, number, in: store)
        case .accepted, .confirmed: return nil
        }
        let words =
            "\(StateText.inline(event, lengthMax: 200)) is recorded at the end, "
            + "\(progress.rawValue), and undone"
        do throws(CommandError) { _ = try await store.undo(number) } catch {
            if case .notUndoable = error { return nil }
            return Violation(.p18, "refused", "\(words). That throws: \(error).")
        }
        guard !P.areSame(store.view, before) else { return nil }
        return Violation(
            .p18, "view", "\(words). The view is not the view before. Look at inverse(of:_:).",
            expected: ("the view before", before), found: ("after undo", store.view))
    }

    private func confirm(
        _ event: P.Event, _ number: IntentNumber, in store: Store<P>
    ) async throws {
        guard script.kind == .downlink else {
            _ = try await store.acknowledge(number)
            return
        }
        let position = Position(store.snapshot.through.value + 1)
        let origin = IntentID(replica: .own, number: number)
        _ = try await store.confirm([
            ConfirmedEvent(position: position, event: event, origin: origin)
        ])
    }
}
