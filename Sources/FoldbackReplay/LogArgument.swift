#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation

    /// Where the log is.
    public struct LogArgument: ParsableArguments {
        @Argument(
            help: ArgumentHelp(
                "The log's directory; to be looked at, also a file of `export`.", valueName: "log"))
        public var path: String

        public init() {}

        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }

        /// Of a file, its entries in memory, at the sequences that they have there.
        func reader() throws -> LogReader {
            var isDirectory: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            guard isThere, !isDirectory.boolValue else { return try LogReader(at: directory) }
            return try LogReader(try Self.history(at: path))
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
            let data: Data
            do {
                data =
                    path == "-"
                    ? try FileHandle.standardInput.readToEnd() ?? Data()
                    : try Data(contentsOf: URL(filePath: path))
            } catch {
                throw StreamFailure("\(path) cannot be read: \(error.localizedDescription)")
            }
            guard let text = String(data: data, encoding: .utf8) else {
                throw StreamFailure("\(path) is not UTF-8")
            }
            do { return try RecordedHistory(ndjson: text) } catch let error as HistoryFileError {
                throw StreamFailure("\(path): \(error)")
            }
        }
    }
#endif
