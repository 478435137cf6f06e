#if ReplayTool
    import ArgumentParser
    import Foundation

    /// The log's directory, for commands that do not take a file instead of a log.
    public struct DirectoryArgument: ParsableArguments {
        @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"))
        public var path: String

        public init() {}

        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }

        /// Refuses a web address: as a path, it would make folders of its parts.
        public func validate() throws {
            guard path.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) == nil else {
                throw ValidationError("\(path) is a URL; give the path of a log's directory")
            }
        }
    }
#endif
