#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// A command line for an app's logs: the commands of every replay tool, with the app's own
    /// types, and commands that the app adds.
    ///
    /// ```swift
    /// @main struct FeedReplay: ReplayTool {
    ///     static let projections = [ReplayProjection(Feed.self)]
    /// }
    /// ```
    ///
    /// The package needs its trait: `.package(url: …, from: …, traits: ["ReplayTool"])`. Only the
    /// command `import` changes a log: it fills an empty log.
    public protocol ReplayTool {
        /// The projections that commands can show. The first is used unless `--projection` names
        /// another.
        ///
        /// List every projection of the app's stores. Commands then fold those that share conflicts
        /// on a log (`ConflictPolicy`) together.
        static var projections: [ReplayProjection] { get }
        /// The versions that `rerun` compares. None by default.
        static var reruns: [ReplayComparison] { get }
        /// The commands that only this tool has. None by default.
        ///
        /// List only additional commands, those that remove something last. The commands of every
        /// tool, such as `log` and `why`, are always there. For `feed-replay count LOG`, write this
        /// and list `Count.self`:
        ///
        /// ```swift
        /// struct Count: ParsableCommand {
        ///     @OptionGroup var log: LogArgument
        ///
        ///     func run() throws {
        ///         try Output.write("\(try log.reader().history().count) entries\n")
        ///     }
        /// }
        /// ```
        ///
        /// Throw `ExitCode(1)` if the answer is no. ``main()`` prints any other error as one line,
        /// and chooses the exit code.
        static var commands: [any ParsableCommand.Type] { get }
        /// The tool's name in help and errors. The name of the executable file by default.
        static var name: String { get }
    }

    extension ReplayTool {
        public static var reruns: [ReplayComparison] { [] }
        public static var commands: [any ParsableCommand.Type] { [] }
        public static var name: String {
            URL(filePath: CommandLine.arguments.first ?? "replay").lastPathComponent
        }

        /// Runs the tool.
        ///
        /// This replaces ArgumentParser's `main`, which exits with 64 for wrong usage and prints
        /// several lines.
        public static func main() async {
            Descriptor.prepareProcess()
            do {
                let words = Array(CommandLine.arguments.dropFirst())
                guard !words.isEmpty else {
                    let help = ReplayCommand<Self>.helpMessage()
                    return try Output.line(ReplayCommand<Self>.help(help))
                }
                try ReplayCommand<Self>.requireKnownCommand(in: words)
                var command = try ReplayCommand<Self>.parseAsRoot(words)
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
            } catch let error as StreamFailure {
                fail(error.description, code: 3)
            } catch let code as ExitCode {
                exit(code.rawValue)
            } catch {
                if let failure = LogFailure(error) {
                    fail(text(of: failure), code: failure.isWrongUse ? 2 : 3)
                }
                guard ReplayCommand<Self>.exitCode(for: error) != .success else {
                    do {
                        let text = ReplayCommand<Self>.fullMessage(for: error)
                        return try Output.line(ReplayCommand<Self>.help(text))
                    } catch { fail("\(error)", code: 3) }
                }
                let message = ReplayCommand<Self>.message(for: error)
                fail("\(message)\(hint(to: message)); see \(helped) --help", code: 2)
            }
        }

        /// Explains an error about a negative number. For `-1` the parser only says that an
        /// argument is missing.
        private static func hint(to message: String) -> String {
            let number = CommandLine.arguments.dropFirst().first { word in
                word.first == "-" && Int(word) != nil && !message.contains(word)
            }
            return number.map { ", because \($0) is read as an option" } ?? ""
        }

        /// The command whose help the error points to.
        private static var helped: String {
            guard let word = CommandLine.arguments.dropFirst().first else { return name }
            if ReplayCommand<Self>.names.contains(word) { return "\(name) \(word)" }
            // Without a command, a log is summarized.
            return FileManager.default.fileExists(atPath: word) ? "\(name) summary" : name
        }

        /// The text of an error. A tool gets the projections of a log from its list.
        private static func text(of failure: LogFailure) -> String {
            guard case .lacksProjections(_, let names)? = failure.logError,
                !projections.contains(where: { names.contains($0.nameInLog) })
            else { return failure.description }
            return """
                the log has views that need \(names.joined(separator: ", ")) too, because these \
                projections share their conflicts; add a ReplayProjection for each to the tool's \
                `projections`
                """
        }

        private static func fail(_ message: String, code: Int32) -> Never {
            let line = message.split(separator: "\n").joined(separator: " ")
            Output.note("\(name): \(line)")
            exit(code)
        }

        /// The projections of the tool, each with the others. Every command uses these.
        static var group: [ReplayProjection] { projections.map { $0.among(projections) } }

        /// The projections that a page shows: the first, and the others that can read the log's
        /// events.
        static func shown(
            _ first: ReplayProjection, isAlone: Bool, in log: LogReader
        ) throws -> [ReplayProjection] {
            guard !isAlone else { return [first] }
            let others = try group.filter {
                try $0.name != first.name && $0.view.foreignEvent(in: log) == nil
            }
            return [first] + others
        }

        static func projection(named name: String?) throws -> ReplayProjection {
            let group = group
            guard let name else {
                guard let first = group.first else {
                    throw ValidationError("this tool has no projections; add one to `projections`")
                }
                return first
            }
            guard let found = group.first(where: { $0.name == name }) else {
                let known = group.map(\.name).joined(separator: ", ")
                throw ValidationError("projection \(name) does not exist; use one of: \(known)")
            }
            return found
        }
    }

    /// The projection that a command shows.
    struct ProjectionOption: ParsableArguments {
        @Option(
            name: .customLong("projection"),
            help: "The projection to use; the tool's first by default.")
        var name: String?
    }
#endif
