#if ReplayTool
    import ArgumentParser
    import Foundation

    /// Where the log is, for commands that take no file instead of it.
    public struct DirectoryArgument: ParsableArguments {
        @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"))
        public var path: String

        public init() {}

        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }
    }
#endif
