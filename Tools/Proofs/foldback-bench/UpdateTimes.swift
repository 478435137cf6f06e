import Foldback
import FoldbackUI

/// A model whose updates are taken step by step.
@MainActor protocol SteppedModel {
    func readUpdate() async
    func showUpdate()
}

extension OptimisticModel: SteppedModel {}
extension RowsModel: SteppedModel {}

/// The times of a model's updates, in their two steps.
@MainActor struct UpdateTimes {
    /// Milliseconds until the update was read. They include two changes of the actor.
    private var reads: [Double] = []
    /// Microseconds that the main thread worked in the meantime.
    private var meanwhile: [Double] = []
    /// Microseconds of the main actor to show it.
    private var shows: [Double] = []

    mutating func measure(_ model: some SteppedModel) async {
        let worked = Machine.mainThreadTime
        var start = ContinuousClock.now
        await model.readUpdate()
        reads.append((ContinuousClock.now - start) / .milliseconds(1))
        meanwhile.append((Machine.mainThreadTime - worked) / .microseconds(1))
        start = ContinuousClock.now
        model.showUpdate()
        shows.append((ContinuousClock.now - start) / .microseconds(1))
    }

    /// - Parameter target: for reading.
    func figures(_ name: String, _ target: Target? = nil) -> [Measurement] {
        let read = reads.quartered("\(name), read and compared", unit: "ms")
        return [
            target.map { read.judged(by: $0) } ?? read,
            meanwhile.quartered("\(name), main thread meanwhile", unit: "us").judged(
                by: .atMost(50)),
            shows.quartered("\(name), shown on the main actor", unit: "us"),
        ]
    }
}
