#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    struct RerunCommand<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "rerun",
                abstract:
                    "Compares a log under two versions of a projection.",
                discussion: """
                    The verdict comes first: fine, different (every event can be read, and states \
                    differ), risky (an event no longer applies, or neither version can read an \
                    event), or impossible (the new version cannot read an event that the old \
                    version can). Exit code 1 unless it is fine. With --json, a different history \
                    has the verdict fine and more than 0 differences.

                    Example: \(Tool.name) rerun feed.log
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "The name of a comparison of this tool; the first by default.")
        var comparison: String?

        @Option(help: "The number of entries with differences to print, from the first on.")
        var first: UInt = 20

        @Flag(
            help:
                "One JSON object for the verdict, one for each entry that changed the difference, one for the end."
        )
        var json = false

        func run() throws {
            let comparison = try Tool.reruns.named(comparison)
            let rerun = try Progress.run("folding") {
                try comparison.run(
                    try log.reader(), Tool.projections, Int(clamping: first))
            }
            if json {
                for line in rerun.lines { try Output.line(line) }
            } else {
                try Output.line(rerun.text)
                for divergence in rerun.divergences { try divergence.print() }
                if rerun.divergenceCount > 0 { try rerun.end.printAsEnd() }
            }
            guard rerun.compatibility == .fine, rerun.divergenceCount == 0 else {
                throw ExitCode(1)
            }
        }
    }

    extension [ReplayComparison] {
        /// Returns the comparison with this name; the first if no name is given.
        func named(_ name: String?) throws -> ReplayComparison {
            if let found = first(where: { $0.name == name ?? $0.name }) { return found }
            let known = map(\.name).joined(separator: ", ")
            throw ValidationError(
                known.isEmpty
                    ? "this tool names no versions to compare"
                    : "comparison \(name ?? "") does not exist; use one of: \(known)")
        }
    }

    extension Rerun {
        /// The lines of `--json`.
        var lines: [JSON] {
            [json] + divergences.map(\.json) + [["differences": end.json]]
        }

        fileprivate var text: String {
            let text =
                switch compatibility {
                case .fine: divergenceCount == 0 ? "fine" : "different"
                case .risky(let what, let sequence): "risky: entry \(sequence): \(what)"
                case .impossible(let what, let sequence): "impossible: entry \(sequence): \(what)"
                }
            let counts =
                divergenceCount == 0
                ? "\(entryCount) entries; the states after each of them are equal"
                : "\(entryCount) entries; the difference changed after \(divergenceCount) of them"
            let flaw = partsFailed.map {
                "\nafter entry \($0) the parts of keys lacked a difference (law P16), so this is a "
                    + "comparison without them; correct part(at:) or keys(touchedBy:)"
            }
            return Ink.bold(text.visible) + "\n" + counts + (flaw ?? "")
        }

        fileprivate var json: JSON {
            var object: JSON.Object = [
                "entries": .integer(Int64(entryCount)),
                "differences": .integer(Int64(divergenceCount)),
            ]
            if let partsFailed { object["partsFailed"] = .of(partsFailed) }
            switch compatibility {
            case .fine: object["verdict"] = "fine"
            case .risky(let what, let sequence):
                object["verdict"] = "risky"
                object["what"] = .string(what)
                object["entry"] = .of(sequence)
            case .impossible(let what, let sequence):
                object["verdict"] = "impossible"
                object["what"] = .string(what)
                object["entry"] = .of(sequence)
            }
            return .object(object)
        }
    }
#endif
