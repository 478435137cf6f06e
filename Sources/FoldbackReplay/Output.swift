#if ReplayTool
    import Foldback
    import Foundation

    /// Standard output that says when it cannot be written to.
    public enum Output {
        public static func write(_ bytes: [UInt8]) throws {
            try Descriptor.write(bytes, to: STDOUT_FILENO, named: "standard output")
        }

        public static func write(_ text: String) throws { try write(Array(text.utf8)) }

        static func line(_ text: String) throws { try write(text + "\n") }
        static func line(_ json: JSON) throws { try write(json.encoded + [UInt8(ascii: "\n")]) }

        /// A line for people: on standard error, so that standard output has the answer alone.
        static func note(_ text: String) { notePart(text.visible + "\n") }

        /// Where nobody can be told that nobody can be told anything.
        static func notePart(_ text: String) {
            try? Descriptor.write(Array(text.utf8), to: STDERR_FILENO, named: "standard error")
        }

        /// All of it or, where something fails, nothing: a file that is there is replaced in one step, also behind a
        /// link. Only its owner may read it, as with logs (L10). Pipes and devices are written to.
        static func writing(
            to path: String, _ body: (([UInt8]) throws -> Void) throws -> Void
        ) throws {
            guard let target = try replaceable(path) else {
                return try writing(through: path, O_CREAT, named: path, body)
            }
            let part = try VanishingFile(for: path, at: target)
            defer { part.remove() }
            try part.write(body)
            guard rename(part.path, target) == 0 else { throw StreamFailure.unwritable(path) }
        }

        /// Nil where the path is no file to be replaced.
        private static func replaceable(_ path: String) throws -> String? {
            var found = stat()
            guard stat(path, &found) == 0 else {
                // A link to nothing yet is written through.
                return lstat(path, &found) == 0 ? nil : path
            }
            guard found.st_mode & S_IFMT == S_IFREG else { return nil }
            guard let target = realpath(path, nil) else { throw StreamFailure.unwritable(path) }
            defer { free(target) }
            return String(cString: target)
        }

        /// - Parameters:
        ///   - flags: of `open`.
        ///   - name: as errors have it.
        static func writing(
            through path: String, _ flags: Int32, named name: String,
            _ body: (([UInt8]) throws -> Void) throws -> Void
        ) throws {
            let descriptor = open(path, O_WRONLY | flags, 0o600)
            guard descriptor >= 0 else { throw StreamFailure.unwritable(name) }
            do {
                try body { try Descriptor.write($0, to: descriptor, named: name) }
            } catch {
                close(descriptor)
                throw error
            }
            guard close(descriptor) == 0 else { throw StreamFailure.unwritable(name) }
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
        /// The text with characters written out that move a cursor, end a line or turn the direction of text: so what
        /// a server said stays on its line, and reads as it is.
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
        fileprivate var isControl: Bool {
            guard value >= 0x7F else { return value < 0x20 }
            switch properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return true
            default: return properties.isBidiControl
            }
        }
    }

    extension Timestamp {
        /// The moment in UTC, to the millisecond.
        var text: String {
            let (seconds, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1_000)
            // Before 1970 the rest is below zero, and the second one earlier.
            let second = Date(timeIntervalSince1970: Double(rest < 0 ? seconds - 1 : seconds))
            let text = second.formatted(
                Date.ISO8601FormatStyle(
                    dateSeparator: .dash, dateTimeSeparator: .space, timeSeparator: .colon,
                    timeZone: .gmt))
            let milliseconds = String(1_000 + (rest < 0 ? rest + 1_000 : rest)).dropFirst()
            return "\(text.dropLast()).\(milliseconds)Z"
        }
    }
#endif
