import Foldback

/// Scripts: drawn in order, checked by several processes at once, and judged in order. So the same
/// seed leads to the same findings, however long each script takes.
extension LawRun {
    /// Scripts for one child process; the next process has another hash seed.
    private static var scriptsPerProcess: Int { 50 }
    /// How often a script that breaks another law is checked for P1 again.
    private static var recheckCount: Int { 5 }
    /// How many more scripts the generator may discard than it draws.
    private static var discardsMax: Int { 100 }

    /// A random script, and what a process says about it.
    private struct Checked: Sendable {
        /// In the order of drawing, from 1 up.
        let number: Int
        let script: Script<P.Event>
        let recording: RecordedChoices
        /// The laws that were checked.
        let laws: [Law]
        /// The process; 0 for the process whose place the run holds.
        let process: Int
        let onDisk: Bool
        var check = LawChecker<P>.LawCheck()
    }

    /// Runs scripts until there are enough, the time is over, or every law is broken.
    nonisolated(nonsending) mutating func runScripts(until end: Duration?) async {
        var draws = 0
        var begun = 0
        var judged = 0
        var usesOfProcesses = [Int](
            repeating: 0, count: min(places.count, ChildProcessChecker<P>.processCount))
        var idle = Set(usesOfProcesses.indices)
        var early: [Int: Checked] = [:]
        await withTaskGroup(of: Checked.self) { group in
            while true {
                while begun < effort.scriptsMax, open.contains(where: { $0 != .p15 }),
                    let process = idle.min(), process == 0 || places.borrow()
                {
                    let drawn = hasLasted(end) ? nil : draw(&draws, number: begun + 1, process)
                    guard let drawn else {
                        if process > 0 { places.giveBack() }
                        break
                    }
                    begun += 1
                    idle.remove(process)
                    usesOfProcesses[process] += 1
                    if usesOfProcesses[process] % Self.scriptsPerProcess == 0 {
                        checker.restartProcess(process)
                    }
                    group.addTask { [checker] in await Self.checked(drawn, by: checker) }
                }
                guard let checked = await group.next() else { break }
                if checked.process > 0 { places.giveBack() }
                idle.insert(checked.process)
                early[checked.number] = checked
                while let next = early.removeValue(forKey: judged + 1) {
                    judged += 1
                    await judge(next)
                }
            }
        }
        if begun < effort.scriptsMax, open.contains(where: { $0 != .p15 }) {
            if hasLasted(end) {
                noteTimeIsOver()
            } else {
                noteDiscards(draws - begun, of: "scripts")
            }
        }
        if draws > begun { report.counts["discarded scripts"] = draws - begun }
    }

    /// Returns the next script that the generator does not discard; nil if it discards too many.
    private func draw(_ draws: inout Int, number: Int, _ process: Int) -> Checked? {
        while draws - number < number + Self.discardsMax {
            var choices = Choices(seed: report.seed &+ UInt64(draws) &* 0x9E37_79B9)
            draws += 1
            guard let script = try? generator.generate(from: &choices) else { continue }
            return Checked(
                number: number, script: script, recording: choices.recording, laws: open,
                process: process, onDisk: number % diskShare == 0)
        }
        return nil
    }

    private static func checked(_ drawn: Checked, by checker: LawChecker<P>) async -> Checked {
        var drawn = drawn
        drawn.check = await checker.check(
            drawn.script, drawn.laws, onDisk: drawn.onDisk,
            processes: drawn.process..<drawn.process + 1)
        return drawn
    }

    private nonisolated(nonsending) mutating func judge(_ checked: Checked) async {
        guard open.contains(where: { $0 != .p15 }) else { return }
        report.scripts.checked = checked.number
        var check = checked.check
        if !check.violations.isEmpty, checked.laws != open {
            // A law that is broken by now may hide the others.
            check = await checker.check(
                checked.script, open, onDisk: checked.onDisk, processes: 0..<1)
        }
        if checked.onDisk, open.contains(.p10) || open.contains(.p19) {
            report.counts["scripts on disk", default: 0] += 1
        }
        let violations = await violations(in: check, of: checked.script)
        await withoutTime { run in
            for violation in violations {
                await run.shrink(violation, checked.recording, checked.script)
            }
        }
    }

    // MARK: Kept scripts

    nonisolated(nonsending) mutating func runKeptScripts() async {
        for (name, script) in corpus.scripts(P.codec) {
            switch script {
            case .failure(let error): await noteUnreadable(name, error)
            case .success(let script):
                let check = await checker.check(
                    script, open, onDisk: true, processes: 0..<1)
                for violation in await violations(in: check, of: script) {
                    await note(violation, script, .given)
                }
            }
        }
    }

    /// This projection's codec wrote the script, maybe in an older version. Logs of users may have
    /// such events too, so this breaks P11.
    private nonisolated(nonsending) mutating func noteUnreadable(
        _ name: String, _ error: any Error
    ) async {
        let statement = "The script kept in \(name) cannot be read any more: \(error)."
        guard open.contains(.p11) else {
            leave(
                .p11, because: statement,
                remedy: "Let the codec read it, or delete the file")
            return
        }
        await note(
            Violation(.p11, name, statement), Script(.downlink, []), .given)
    }

    // MARK: Violations

    private nonisolated(nonsending) mutating func violations(
        in check: LawChecker<P>.LawCheck, of script: Script<P.Event>
    ) async -> [Violation] {
        count(script)
        report.pairs.merge(check.pairs) { $0 + $1 }
        for label in Set(coverage.labels(script)) { report.labels[label, default: 0] += 1 }
        hasItems = hasItems || check.hasItems
        if let reason = check.unavailable { noteUnavailable(reason) }
        return await cause(of: check.violations, in: script)
    }

    /// Notes once that this process checks the laws alone.
    private mutating func noteUnavailable(_ reason: String) {
        guard unavailable == nil else { return }
        unavailable = reason
        report.noteUnavailable(reason, for: open)
        open.removeAll { $0 == .p14 }
    }

    /// A nondeterministic fold sometimes breaks other laws, and P1 does not always show it at once.
    /// So the script is checked for P1 a few more times before another law is reported.
    private nonisolated(nonsending) func cause(
        of violations: [Violation], in script: Script<P.Event>
    ) async -> [Violation] {
        // A trap or an unreadable event is certain.
        let certain: Set<Law> = [.p1, .p11, .p14]
        guard open.contains(.p1), violations.contains(where: { !certain.contains($0.law) }) else {
            return violations
        }
        for _ in 0..<Self.recheckCount {
            let again = await checker.check(
                script, [.p1], onDisk: false,
                processes: 0..<ChildProcessChecker<P>.processCount)
            if !again.violations.isEmpty { return again.violations }
        }
        return violations
    }

    private mutating func count(_ script: Script<P.Event>) {
        func add(_ name: String, _ count: Int = 1) { report.counts[name, default: 0] += count }
        add("steps", script.steps.count)
        for step in script.steps { add(step.name) }
        declaresKeys =
            declaresKeys || P.hasRowsBeside
            || script.recordedEvents.contains {
                !P.keys(touchedBy: $0, ReferenceLog<P>.context(of: 1)).isEmpty
            }
    }
}
