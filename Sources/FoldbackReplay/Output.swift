#if ReplayTool
    import Foldback
    import Foundation

    /// Standard output that says when it cannot be written to.
    public enum Output {
        public static func write(_ bytes: [UInt8]) throws {
            do {
                try FileHandle.standardOutput.write(contentsOf: Data(bytes))
            } catch {
                throw StreamFailure("standard output cannot be written to: \(error)")
            }
        }

        public static func write(_ text: String) throws { try write(Array(text.utf8)) }

        static func line(_ text: String) throws { try write(text + "\n") }
        static func line(_ json: JSON) throws { try write(json.encoded + [UInt8(ascii: "\n")]) }

        /// All of it or, where something fails, nothing.
        static func writing(
            to file: URL, _ body: (([UInt8]) throws -> Void) throws -> Void
        ) throws {
            let part = file.deletingLastPathComponent()
                .appending(path: ".\(file.lastPathComponent).part")
            guard FileManager.default.createFile(atPath: part.path, contents: nil),
                let handle = try? FileHandle(forWritingTo: part)
            else { throw StreamFailure("\(part.path) cannot be written") }
            defer { try? FileManager.default.removeItem(at: part) }
            try body { bytes in
                do { try handle.write(contentsOf: Data(bytes)) } catch {
                    throw StreamFailure("\(part.path) cannot be written: \(error)")
                }
            }
            try handle.close()
            guard rename(part.path, file.path) == 0 else {
                throw StreamFailure(
                    "\(file.path) cannot be written: \(String(cString: strerror(errno)))")
            }
        }

        /// Whether colours are seen: on a terminal, unless `NO_COLOR` says not to (no-color.org).
        static let isColoured =
            isatty(STDOUT_FILENO) == 1
            && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
    }

    /// The session has nobody left to talk to.
    public struct StreamFailure: Error, CustomStringConvertible {
        public let description: String
        public init(_ description: String) { self.description = description }
    }

    /// Colours by meaning, of ECMA-48.
    enum Ink: String {
        case old = "31"
        case new = "32"
        case dim = "2"
        case bold = "1"

        func callAsFunction(_ text: String) -> String {
            Output.isColoured ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
        }
    }

    extension String {
        /// The text with control characters written out, so that what a server said stays on its line and
        /// moves no cursor.
        public var visible: String {
            guard unicodeScalars.contains(where: \.isControl) else { return self }
            return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }
                .joined()
        }

        func padded(to width: Int) -> String {
            self + String(repeating: " ", count: max(1, width - count))
        }
    }

    extension Unicode.Scalar {
        fileprivate var isControl: Bool { value < 0x20 || 0x7F...0x9F ~= value }
    }

    /// Says on a terminal, after a second, that something goes on.
    enum Progress {
        static func run<R>(_ what: String, _ body: () throws -> R) throws -> R {
            guard isatty(STDERR_FILENO) == 1 else { return try body() }
            let ticking = Task.detached {
                let start = ContinuousClock.now
                while true {
                    try await Task.sleep(for: .seconds(1))
                    let seconds = Int((ContinuousClock.now - start) / .seconds(1))
                    FileHandle.standardError.write(Data("\r\(what), \(seconds) s".utf8))
                }
            }
            defer {
                ticking.cancel()
                FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
            }
            return try body()
        }
    }

    extension Timestamp {
        /// The moment in UTC, to the millisecond.
        var text: String {
            let date = Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1_000)
            return date.formatted(
                Date.ISO8601FormatStyle(
                    dateSeparator: .dash, dateTimeSeparator: .space, timeSeparator: .colon,
                    includingFractionalSeconds: true, timeZone: .gmt))
        }
    }
#endif
