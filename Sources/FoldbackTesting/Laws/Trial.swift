import Foldback

/// One history, carried out on a log in memory and on the refold: what the laws are held against.
struct Trial<P: Projection>: Sendable {
    typealias Step = Script<P.Event>.Step

    let history: Script<P.Event>
    /// Behind each step of the history, on the log.
    let passages: [Passage]
    /// Behind each step, by the refold.
    let refolded: [Refolded]

    struct Passage: Sendable {
        let outcome: CommandResult?
        let sight: Observation<P>
        /// What is wrong with what was told of changed rows; nil where nothing is.
        var flawInChanges: String?
    }

    struct Refolded: Sendable {
        let command: LogCommand<P.Event>?
        let outcome: CommandResult?
        let state: ReferenceLog<P>.State
        let sequence: Int

        var sight: Observation<P> { Observation(state, sequence: sequence) }
    }

    /// - Throws: ``Violation`` of P12 where the log cannot say what became of an intent.
    init(_ history: Script<P.Event>) async throws {
        self.history = history
        passages = try await Self.passages(of: history)
        refolded = Self.refolded(history)
    }

    static func passages(
        of history: Script<P.Event>,
        _ looking: (Int, LogUnderTest<P>) async throws -> Void = { _, _ in }
    ) async throws -> [Passage] {
        var subject = try LogUnderTest<P>(history.kind)
        var passages: [Passage] = []
        var (watched, watch) = (subject.store, P.watchRowsForLaws(subject.store))
        var before = Observation(of: subject.store)
        for (index, step) in history.steps.enumerated() {
            let outcome = try await subject.perform(step)
            let sight = try sight(of: subject.store, index)
            var flaw: String?
            if watched === subject.store {
                flaw = watch.flatMap { flawInChanges($0.take(), from: before, to: sight) }
            } else {
                (watched, watch) = (subject.store, P.watchRowsForLaws(subject.store))
            }
            passages.append(Passage(outcome: outcome, sight: sight, flawInChanges: flaw))
            before = sight
            try await looking(index, subject)
        }
        return passages
    }

    /// Of one step on one store, whether it has committed anything or not.
    private static func flawInChanges(
        _ told: RowWatcher.Gathered, from before: Observation<P>, to now: Observation<P>
    ) -> String? {
        guard let old = before.shownByRows, let new = now.shownByRows else { return nil }
        return P.flawForLaws(in: told, from: old, to: new)
    }

    private static func sight(of store: Store<P>, _ index: Int) throws -> Observation<P> {
        do { return try Observation(allOf: store) } catch {
            throw Violation(
                .p12, "lost",
                "Behind step \(index + 1) the log does not know an intent that was recorded: \(error)"
            )
        }
    }

    /// A trial of the refold alone.
    init(refolding history: Script<P.Event>, _ refolded: [Refolded]) {
        self.history = history
        passages = []
        self.refolded = refolded
    }

    /// - Parameter behind: called behind each step.
    @discardableResult
    static func refolded(
        _ history: Script<P.Event>, behind: (Refolded) -> Void = { _ in }
    ) -> [Refolded] {
        var reference = ReferenceLog<P>(history.kind)
        var numbers = ScriptNumbers()
        return history.steps.map { step in
            let command = numbers.command(for: step)
            let outcome = command.map { reference.carryOut($0) }
            numbers.note(outcome, of: step)
            let refolded = Refolded(
                command: command, outcome: outcome, state: reference.now,
                sequence: reference.facts.count)
            behind(refolded)
            return refolded
        }
    }

    /// The step with its place, for messages.
    func named(_ index: Int) -> String { history.named(index) }

    /// Events that were folded anywhere, with the states that they met.
    var foldings: [ReferenceLog<P>.Folding] { refolded.flatMap(\.state.foldings) }
}

extension Script {
    /// A step with its place, for messages.
    func named(_ index: Int) -> String {
        "step \(index + 1), \(steps[index].notation(of: steps, at: index)),"
    }
}
