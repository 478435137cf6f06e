#if ReplayTool
    import ArgumentParser
    import Foundation

    /// The log's directory, for commands that do not take a file instead of a log.
    public struct DirectoryArgument: ParsableArguments {
        @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"))
        public var path: String

        public init() {}

        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }
    }
#endif
