#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    /// What a plot shows.
    enum PlotSubject: String, ExpressibleByArgument, CaseIterable {
        case pending
        case settling
        case bytes

        func plot(_ plots: LogPlots) -> Plot {
            switch self {
            case .pending: plots.pending
            case .settling: plots.settling
            case .bytes: plots.bytes
            }
        }

        /// Returns the plot for a page.
        func svg(_ plots: LogPlots) -> String {
            plot(plots).svg(.page(prefix: "plot-\(rawValue)"))
        }
    }

    struct PlotCommand<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "plot",
                abstract: "Draws how a log grew, as an SVG picture.",
                discussion: """
                    pending: the intents that are not settled, over time. settling: how long \
                    intents took to be settled. bytes: the size of the entries, and the \
                    checkpoints. The picture has numbers only, and nothing of the events.

                    Example: \(Tool.name) plot feed.log --of settling -o settling.svg
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(name: .customLong("of"), help: "pending, settling or bytes.")
        var subject: PlotSubject

        @Option(name: .shortAndLong, help: "The file to write; standard output by default.")
        var output: String?

        @Flag(help: "One JSON object with the points, instead of the picture.")
        var json = false

        func run() throws {
            let spared = SparedLog(log)
            if let output { try spared.requireSpared(by: output) }
            let reader = try log.reader()
            let plots = try Progress.run("reading entries") { try LogPlots(reader) }
            let plot = subject.plot(plots)
            let text = json ? plot.json.printed + [UInt8(ascii: "\n")] : Array(plot.svg(.file).utf8)
            guard let output else { return try Output.write(text) }
            try Output.writing(to: output, sparing: spared) { try $0(text) }
        }
    }
#endif
