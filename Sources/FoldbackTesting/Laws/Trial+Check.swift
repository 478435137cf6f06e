import Foldback

extension Trial {
    /// Runs a script and checks laws with it: calls `begins` before each law, and `found` for each
    /// violation. Ends after a violation of P1, because no other law means anything then.
    nonisolated(nonsending) static func check(
        _ script: Script<P.Event>, _ laws: [Law], onDisk: Bool, begins: (Law) -> Void,
        found: (Violation) -> Void
    ) async {
        guard !laws.isEmpty else { return }
        let trial: Trial<P>
        do { trial = try await Trial<P>(script) } catch {
            found(violation(of: .p12, error))
            return
        }
        for law in laws {
            begins(law)
            do {
                guard let violation = try await trial.violation(of: law, onDisk: onDisk) else {
                    continue
                }
                found(violation)
            } catch {
                found(violation(of: law, error))
            }
            if law == .p1 { return }
        }
    }

    private nonisolated(nonsending) func violation(
        of law: Law, onDisk: Bool
    ) async throws -> Violation? {
        switch law {
        case .p1: return try await determinism()
        case .p2: return try await incrementalEqualsRefold()
        case .p3: return try await checkpointPlusTail()
        case .p4: return try await rejectedEqualsAbsent()
        case .p5: return try await confirmedEqualsServersEvents()
        case .p7: return try await duplicatesChangeNothing()
        case .p8: return try await anyOrderOfAnswers()
        case .p9: return disjointKeysCommute()
        case .p10: return try await reopening(onDisk: onDisk)
        case .p11: return stateRoundTrip()
        case .p12: return noIntentIsLost()
        case .p16: return partsShowDifferences()
        case .p17: return sameEventsAreRefused()
        case .p18: return try await undoGivesTheViewBefore()
        case .p19: return try await compactingChangesNothing(onDisk: onDisk)
        case .f9: return throwsChangeNothing()
        case .p13, .p14, .p15: return nil
        }
    }

    /// An error that a log should not throw.
    private static func violation(of law: Law, _ error: any Error) -> Violation {
        error as? Violation ?? Violation(law, "error", "The log cannot continue: \(error).")
    }
}
