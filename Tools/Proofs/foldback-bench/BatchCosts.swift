/// The costs of successive batches of answers to one log.
struct BatchCosts: Sendable {
    /// The answers in each batch.
    let answerCount: Int
    private(set) var batches: [BatchCost] = []

    init(answerCount: Int) { self.answerCount = answerCount }

    mutating func append(_ batch: BatchCost) { batches.append(batch) }

    private var microseconds: [Double] {
        batches.map { $0.elapsed / .microseconds(1) / Double(answerCount) }
    }

    /// Returns the time of an answer, and its calls of `apply`.
    ///
    /// - Parameter target: for the batch with the most calls on the overlay.
    func figures(_ name: String, overlay target: Target?) -> [Measurement] {
        let calls = batches.map { Double($0.folds.overlay) / Double(answerCount) }
        let confirmed = batches.map { Double($0.folds.confirmed) / Double(answerCount) }.median
        let samples = batches.count * answerCount
        var counted = calls.measurement(
            "\(name), overlay folds", unit: "applies/answer", each: "batches", samples: samples)
        counted.note += confirmed == 0 ? "" : "; and \(confirmed.text) on confirmed state"
        if let target { counted = counted.judged(by: target, on: calls.max() ?? 0) }
        return [microseconds.quartered(name, unit: "us/answer", samples: samples), counted]
    }

    /// Returns the time of an answer relative to the time of `other`, by turn.
    func ratio(to other: BatchCosts, _ name: String) -> Measurement {
        zip(microseconds, other.microseconds).map { $0 / $1 }.quartered(name, unit: "times")
    }
}
