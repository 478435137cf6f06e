import Foldback

/// Fleets, for P15.
extension LawRun {
    /// Runs fleets until there are enough, the time is over, or P15 is broken.
    nonisolated(nonsending) mutating func runFleets(_ countMax: Int) async {
        let simulation = Simulation(of: P.self, events: events, replicas: 2, stepsMax: 24)
        var draws = 0
        while open.contains(.p15), report.fleets.checked < countMax {
            if hasLasted(effort.durationMax) { return noteTimeIsOver() }
            guard draws < 2 * report.fleets.checked + 100 else {
                return noteDiscards(draws - report.fleets.checked, of: "fleets")
            }
            let run = await simulation.run(seed: report.seed &+ UInt64(draws) &* 0x9E37_79B9)
            draws += 1
            guard run.isComplete else { continue }
            report.fleets.checked += 1
            report.counts["fleets", default: 0] += 1
            report.counts["fleet operations", default: 0] += run.operations
            note(
                await simulation.finding(
                    in: run, candidatesMax: effort.candidatesMax, runsTried: report.fleets.checked))
        }
    }

    nonisolated(nonsending) mutating func runKeptFleets() async {
        for (name, fleet) in corpus.fleets() where open.contains(.p15) {
            switch fleet {
            case .failure(let error): noteUnreadableFleet(name, "\(error)")
            case .success(let recorded):
                let simulation = Simulation(
                    of: P.self, events: events, replicas: recorded.replicas,
                    stepsMax: recorded.stepsMax)
                let run = await simulation.run(choices: recorded.choices)
                if !run.isComplete {
                    noteUnreadableFleet(name, "the generator of events discards its choices")
                }
                note(await simulation.finding(in: run, candidatesMax: 0, runsTried: 0))
            }
        }
    }

    private mutating func noteUnreadableFleet(_ name: String, _ reason: String) {
        leave(
            .p15, because: "the fleet kept in \(name) cannot be run any more: \(reason)",
            remedy: "Delete the file, or restore the generator that drew it")
    }

    private mutating func note(_ finding: Finding?) {
        guard let finding else { return }
        open.removeAll { $0 == .p15 }
        add(finding)
    }
}
