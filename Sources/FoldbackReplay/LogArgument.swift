#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// Where the log is.
    public struct LogArgument: ParsableArguments {
        @Argument(
            help: ArgumentHelp(
                "The log's directory; to be looked at, also a file of `export`, or - for standard input.",
                valueName: "log"))
        public var path: String

        public init() {}

        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }

        /// For files that are made of it.
        var name: String {
            path == "-" ? "recorded" : directory.deletingPathExtension().lastPathComponent
        }

        /// Whether it is a file, which does not grow as a log does: it is read once.
        var isFile: Bool {
            var found = stat()
            return path == "-" || stat(path, &found) == 0 && !found.isDirectory
        }

        /// Of a file, its entries in memory, at the sequences that they have there.
        func reader() throws -> LogReader {
            isFile ? try LogReader(try Self.history(at: path)) : try LogReader(at: directory)
        }

        /// Says so where the projection reads none of the first events: then what is seen of it is nothing.
        func reader(seenBy view: any ReplayedView) throws -> LogReader {
            let reader = try reader()
            if let event = try view.foreignEvent(in: reader) {
                Output.note(
                    "\(view.source.type) reads none of the log's first events, as \(event); if they are another app's, use its own tool"
                )
            }
            return reader
        }

        /// - Parameter path: of a file of `export`; - for standard input.
        static func history(at path: String) throws -> RecordedHistory<[UInt8]> {
            let name = shown(path)
            guard let text = String(validating: try bytes(at: path), as: UTF8.self) else {
                throw StreamFailure("\(name) is not UTF-8")
            }
            do { return try RecordedHistory(ndjson: text) } catch let error as HistoryFileError {
                throw StreamFailure("\(name): \(error)")
            }
        }

        /// A path as errors have it.
        static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }

        private static func bytes(at path: String) throws -> [UInt8] {
            guard path != "-" else {
                return try Descriptor.readToEnd(STDIN_FILENO, named: shown(path))
            }
            let descriptor = open(path, O_RDONLY)
            guard descriptor >= 0 else { throw StreamFailure.unreadable(path) }
            defer { close(descriptor) }
            var found = stat()
            guard fstat(descriptor, &found) == 0 else { throw StreamFailure.unreadable(path) }
            guard !found.isDirectory else {
                throw StreamFailure("\(path) is a directory, and not a file of `export`")
            }
            return try Descriptor.readToEnd(descriptor, named: path)
        }
    }

    extension stat {
        fileprivate var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    }
#endif
