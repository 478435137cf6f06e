#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    struct RerunCommand<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "rerun",
                abstract:
                    "Compares a log under two versions of a projection; changes nothing.",
                discussion: """
                    The verdict comes first: fine, risky (an event no longer applies, or neither \
                    version can read an event), or impossible (the new version cannot read an \
                    event that the old version can). Exit code 1 unless the verdict is fine and \
                    nothing differs.

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
            guard let comparison = Tool.reruns.first(where: { $0.name == comparison ?? $0.name })
            else {
                let known = Tool.reruns.map(\.name).joined(separator: ", ")
                throw ValidationError(
                    known.isEmpty
                        ? "this tool names no versions to compare"
                        : "comparison \(self.comparison ?? "") does not exist; use one of: \(known)"
                )
            }
            let rerun = try Progress.run("folding") {
                try comparison.run(
                    try log.reader(), Tool.projections, Int(clamping: first))
            }
            try json ? Output.line(rerun.json) : Output.line(rerun.text)
            for divergence in rerun.divergences {
                try json ? Output.line(divergence.json) : divergence.print()
            }
            if json {
                try Output.line(["differences": rerun.end.json] as JSON)
            } else if rerun.divergenceCount > 0 {
                try rerun.end.printAsEnd()
            }
            guard rerun.compatibility == .fine, rerun.divergenceCount == 0 else {
                throw ExitCode(1)
            }
        }
    }

    extension Rerun {
        fileprivate var text: String {
            let text =
                switch compatibility {
                case .fine: "fine"
                case .risky(let what, let sequence): "risky: entry \(sequence): \(what)"
                case .impossible(let what, let sequence): "impossible: entry \(sequence): \(what)"
                }
            return Ink.bold(text.visible)
                + "\n\(entryCount) entries, \(divergenceCount) that changed the difference"
        }

        fileprivate var json: JSON {
            var object: JSON.Object = [
                "entries": .integer(Int64(entryCount)),
                "differences": .integer(Int64(divergenceCount)),
            ]
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
