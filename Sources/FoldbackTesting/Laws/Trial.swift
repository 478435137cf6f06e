import Foldback

/// One history, carried out on a log in memory and on the refold: what the laws are held against.
struct Trial<P: Projection>: Sendable {
    typealias Step = History<P.Event>.Step

    let history: History<P.Event>
    /// Behind each step of the history, on the log.
    let passages: [Passage]
    /// Behind each step, by the refold.
    let refolded: [Refolded]

    struct Passage: Sendable {
        let outcome: Outcome?
        let sight: Sight<P>
        /// What is wrong with what was told of changed rows; nil where nothing is.
        var flawInChanges: String?
    }

    struct Refolded: Sendable {
        let asked: Asked<P.Event>?
        let outcome: Outcome?
        let state: Refold<P>.State
        let sequence: Int

        var sight: Sight<P> { Sight(state, sequence: sequence) }
    }

    /// - Throws: ``Violation`` of P12 where the log cannot say what became of an intent.
    init(_ history: History<P.Event>) async throws {
        self.history = history
        passages = try await Self.passages(of: history)
        refolded = Self.refolded(history)
    }

    static func passages(
        of history: History<P.Event>,
        _ looking: (Int, Subject<P>) async throws -> Void = { _, _ in }
    ) async throws -> [Passage] {
        var subject = try Subject<P>(history.kind)
        var passages: [Passage] = []
        var (watched, watch) = (subject.store, P.watchRowsForLaws(subject.store))
        var before = Sight(of: subject.store)
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
        _ told: RowWatcher.Gathered, from before: Sight<P>, to now: Sight<P>
    ) -> String? {
        guard let old = before.shownByRows, let new = now.shownByRows else { return nil }
        return P.flawForLaws(in: told, from: old, to: new)
    }

    private static func sight(of store: Store<P>, _ index: Int) throws -> Sight<P> {
        do { return try Sight(allOf: store) } catch {
            throw Violation(
                .p12, "lost",
                "Behind step \(index + 1) the log does not know an intent that was recorded: \(error)"
            )
        }
    }

    /// A trial of the refold alone.
    init(refolding history: History<P.Event>, _ refolded: [Refolded]) {
        self.history = history
        passages = []
        self.refolded = refolded
    }

    /// - Parameter behind: called behind each step.
    @discardableResult
    static func refolded(
        _ history: History<P.Event>, behind: (Refolded) -> Void = { _ in }
    ) -> [Refolded] {
        var refold = Refold<P>(history.kind)
        var numbers = Numbers()
        return history.steps.map { step in
            let asked = numbers.asked(by: step)
            let outcome = asked.map { refold.carryOut($0) }
            if step.isRecording { numbers.append(outcome) }
            let refolded = Refolded(
                asked: asked, outcome: outcome, state: refold.now, sequence: refold.facts.count)
            behind(refolded)
            return refolded
        }
    }

    /// The step with its place, for messages.
    func named(_ index: Int) -> String { history.named(index) }

    /// Events that were folded anywhere, with the states that they met.
    var foldings: [Refold<P>.Folding] { refolded.flatMap(\.state.foldings) }
}

extension History {
    /// A step with its place, for messages.
    func named(_ index: Int) -> String {
        "step \(index + 1), \(steps[index].notation(of: steps, at: index)),"
    }
}
