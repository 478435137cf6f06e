import Foldback
import Synchronization

/// One script, run on a log in memory and on the reference model. The laws compare the two.
struct Trial<P: Projection>: Sendable {
    typealias Step = Script<P.Event>.Step

    let script: Script<P.Event>
    /// The log after each step.
    let logSteps: [LogStep]
    /// The log after the last step, for reading only: every law sees it. Nil if only the model ran.
    let log: LogUnderTest<P>?
    /// The reference model after each step.
    let modelSteps: [ModelStep]

    struct LogStep: Sendable {
        let result: CommandResult?
        let observation: Observation<P>
        /// What is wrong with the row changes that the store reported; nil if nothing is.
        let changeFlaw: String?
        /// What a crash after the step leaves behind.
        let committed: MemoryRows
        /// A sequence that was visible before its entry was committed, with the number of committed
        /// entries.
        let early: (seen: LogSequence, committed: Int)?
    }

    struct ModelStep: Sendable {
        let command: LogCommand<P.Event>?
        let result: CommandResult?
        let state: ReferenceLog<P>.State
        let sequence: Int

        var observation: Observation<P> { Observation(state, sequence: sequence) }
    }

    /// - Throws: ``Violation`` of P12 if the log does not know an intent.
    init(_ script: Script<P.Event>) async throws {
        self.script = script
        let (logSteps, log) = try await Self.logSteps(of: script)
        self.logSteps = logSteps
        self.log = log
        modelSteps = Self.modelSteps(of: script)
    }

    /// A trial of the reference model alone.
    init(of script: Script<P.Event>, _ modelSteps: [ModelStep]) {
        self.script = script
        logSteps = []
        log = nil
        self.modelSteps = modelSteps
    }

    static func logSteps(
        of script: Script<P.Event>
    ) async throws -> ([LogStep], LogUnderTest<P>) {
        let early = Mutex<(seen: LogSequence, committed: Int)?>(nil)
        var log = try LogUnderTest<P>(script.kind) { seen, committed in
            if seen.value > UInt64(committed) { early.withLock { $0 = $0 ?? (seen, committed) } }
        }
        var logSteps: [LogStep] = []
        var (watchedStore, watcher) = (log.store, P.watchRowsForLaws(log.store))
        var before = Observation(of: log.store)
        for (index, step) in script.steps.enumerated() {
            let result = try await log.perform(step)
            let observation = try observation(of: log.store, index)
            var flaw: String?
            if watchedStore === log.store {
                flaw = watcher.flatMap { changeFlaw($0.take(), from: before, to: observation) }
            } else {
                (watchedStore, watcher) = (log.store, P.watchRowsForLaws(log.store))
            }
            logSteps.append(
                LogStep(
                    result: result, observation: observation, changeFlaw: flaw,
                    committed: log.committed, early: early.withLock { $0 }))
            before = observation
        }
        return (logSteps, log)
    }

    /// Compares the changes that a store reported for one step with its rows before and after.
    private static func changeFlaw(
        _ changes: RowWatcher.Gathered, from before: Observation<P>, to now: Observation<P>
    ) -> String? {
        guard let old = before.readableRows, let new = now.readableRows else { return nil }
        return P.flawForLaws(in: changes, from: old, to: new)
    }

    private static func observation(of store: Store<P>, _ index: Int) throws -> Observation<P> {
        do { return try Observation(allOf: store) } catch {
            throw Violation(
                .p12, "lost",
                "After step \(index + 1) the log does not know an intent that was recorded: \(error)"
            )
        }
    }

    /// - Parameter after: called after each step.
    @discardableResult
    static func modelSteps(
        of script: Script<P.Event>, after: (ModelStep) -> Void = { _ in }
    ) -> [ModelStep] {
        var reference = ReferenceLog<P>(script.kind)
        var numbers = ScriptNumbers()
        return script.steps.map { step in
            let command = numbers.command(for: step)
            let result = command.map { reference.carryOut($0) }
            numbers.note(result, of: step)
            let modelStep = ModelStep(
                command: command, result: result, state: reference.now,
                sequence: reference.facts.count)
            after(modelStep)
            return modelStep
        }
    }

    /// The step with its place, for messages.
    func named(_ index: Int) -> String { script.named(index) }

    /// Every call of `apply` in the reference model.
    var foldings: [ReferenceLog<P>.Folding] { modelSteps.flatMap(\.state.foldings) }
}

extension Script {
    /// The step with its place, for messages.
    func named(_ index: Int) -> String {
        "step \(index + 1), \(steps[index].notation(of: steps, at: index)),"
    }
}
