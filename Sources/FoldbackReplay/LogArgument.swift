#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// The argument of a command that reads a log: the log's directory, or a file of `export`.
    ///
    /// ```swift
    /// @OptionGroup var log: LogArgument
    /// func run() throws {
    ///     try Output.write("\(try log.reader().history().count) entries\n")
    /// }
    /// ```
    ///
    /// Use ``DirectoryArgument`` in a command that needs a log and cannot take a file.
    public struct LogArgument: ParsableArguments {
        @Argument(
            help: ArgumentHelp(
                "The log's directory; also a file of `export`, or - for standard input.",
                valueName: "log"))
        public var path: String

        @Option(
            help: ArgumentHelp(
                "The folder that compactions have moved the log's removed entries to.",
                valueName: "folder"))
        public var archive: String?

        public init() {}

        /// The path as a directory. If the argument is a file, use ``reader()`` instead.
        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }

        /// A name for files that are made from the log.
        var name: String {
            path == "-" ? "recorded" : directory.deletingPathExtension().lastPathComponent
        }

        /// Whether the path is not a log's directory. A file does not grow like a log, and is read
        /// once.
        var isFile: Bool { Self.isFile(path) }

        static func isFile(_ path: String) -> Bool {
            var found = stat()
            return path == "-" || stat(path, &found) == 0 && !found.isDirectory
        }

        /// Returns a reader of the log or file. Entries of a file are in memory and keep their
        /// sequences.
        ///
        /// The reader changes neither (L9).
        ///
        /// - Throws: as `LogReader.init(at:)` for a log; ``StreamFailure`` if the file cannot be
        ///   read or is not a file of `export`.
        public func reader() throws -> LogReader { try Self.reader(at: path, archive: archive) }

        static func reader(at path: String, archive: String? = nil) throws -> LogReader {
            guard !isFile(path) else { return try LogReader(try history(at: path)) }
            return try LogReader(
                at: URL(filePath: path, directoryHint: .isDirectory),
                archive: archive.map { URL(filePath: $0, directoryHint: .isDirectory) })
        }

        /// Returns the reader, and prints a note if the projection cannot read any of the first
        /// events. Its states would then be empty.
        func reader(seenBy view: any ReplayedView) throws -> LogReader {
            let reader = try reader()
            if let event = try view.foreignEvent(in: reader) {
                Output.note(
                    "\(view.source.type) reads none of the log's first events, such as \(event); if another app wrote them, use that app's tool"
                )
            }
            return reader
        }

        /// Reads the history from a file, and stops at the first wrong line.
        ///
        /// - Parameter path: the path of a file of `export`; - for standard input.
        static func history(at path: String) throws -> RecordedHistory<[UInt8]> {
            let name = shown(path)
            let descriptor = path == "-" ? STDIN_FILENO : try opened(path)
            defer { if path != "-" { close(descriptor) } }
            var lines = InputLines(
                descriptor, named: name, firstLineBytesMax: Limits.historyHeadBytesMax)
            var reader = HistoryFileReader()
            do {
                while let line = try lines.next() {
                    switch line {
                    case .whole(let bytes): try reader.read(bytes)
                    case .refused(let reason): throw reader.refusal(ofNextLine: reason)
                    }
                }
                return try reader.history()
            } catch let error as HistoryFileError {
                throw StreamFailure("\(name): \(error)")
            }
        }

        /// The name of a path in errors.
        static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }

        /// Opens a file for reading.
        private static func opened(_ path: String) throws -> Int32 {
            let descriptor = open(path, O_RDONLY)
            guard descriptor >= 0 else { throw StreamFailure.unreadable(path) }
            var found = stat()
            guard fstat(descriptor, &found) == 0 else {
                defer { close(descriptor) }
                throw StreamFailure.unreadable(path)
            }
            guard !found.isDirectory else {
                close(descriptor)
                throw StreamFailure(
                    "\(path) is a directory, and not a file of `export`; give a file")
            }
            return descriptor
        }
    }

    extension stat {
        fileprivate var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    }
#endif
