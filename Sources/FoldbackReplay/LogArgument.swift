#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation
    import Synchronization

    /// Where the log is.
    public struct LogArgument: ParsableArguments {
        @Argument(
            help: ArgumentHelp(
                "The log's directory; to be looked at, also a file of `export`.", valueName: "log"))
        public var path: String

        public init() {}

        public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }

        /// Of a file, a log that is gone with the process; where entries were taken out, its gaps are closed.
        func reader() throws -> LogReader {
            var isDirectory: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            guard isThere, !isDirectory.boolValue else { return try LogReader(at: directory) }
            var history = try Self.history(at: path)
            do throws(FoldbackError) { try history.requireWhole() } catch {
                history = try history.closed()
            }
            let scratch = try Scratch.directory()
            try Foldback.makeLog(of: history, in: scratch)
            return try LogReader(at: scratch)
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

    /// Directories that are gone with the process.
    enum Scratch {
        private static let made = Mutex<[URL]>([])

        static func directory() throws -> URL {
            let url = FileManager.default.temporaryDirectory
                .appending(path: "foldback-\(UUID().uuidString)", directoryHint: .isDirectory)
            let isFirst = made.withLock { made in
                made.append(url)
                return made.count == 1
            }
            if isFirst { atexit { Scratch.remove() } }
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            return url
        }

        private static func remove() {
            for url in made.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
        }
    }
#endif
