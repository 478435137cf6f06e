#if ReplayTool
    import Foldback
    import Foundation

    /// Writes to standard output, and throws if that fails.
    public enum Output {
        public static func write(_ bytes: [UInt8]) throws {
            try Descriptor.write(bytes, to: STDOUT_FILENO, named: "standard output")
        }

        public static func write(_ text: String) throws { try write(Array(text.utf8)) }

        static func line(_ text: String) throws { try write(text + "\n") }
        static func line(_ json: JSON) throws { try write(json.printed + [UInt8(ascii: "\n")]) }

        /// Writes a line for people to standard error. Standard output has only the answer.
        ///
        /// Shortens a long text, because an error may quote a whole event.
        static func note(_ text: String) { notePart(text.shortened(to: 1_000).visible + "\n") }

        /// Writes to standard error. Ignores a failure, because it cannot be reported
        /// elsewhere.
        static func notePart(_ text: String) {
            try? Descriptor.write(Array(text.utf8), to: STDERR_FILENO, named: "standard error")
        }

        /// Says on standard error that a file was written, with its size.
        static func noteWritten(_ path: String, _ what: String) {
            var found = stat()
            guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return }
            note("wrote \(what) to \(path): \(found.st_size.formatted()) bytes")
        }

        /// Writes a whole file, or nothing if anything fails.
        ///
        /// An existing file is replaced in one step, also if the path is a link to it. Only the
        /// owner may read the file, as with logs (L10). Pipes and devices are written to directly.
        ///
        /// - Parameter log: the command's log. A path that leads into it, or into any other log, is
        ///   refused.
        static func writing(
            to path: String, sparing log: SparedLog,
            _ body: (([UInt8]) throws -> Void) throws -> Void
        ) throws {
            try log.requireSpared(by: path)
            guard let target = try replaceable(path) else {
                return try writing(through: path, O_CREAT, named: path, body)
            }
            let part = try VanishingFile(for: path, at: target)
            defer { part.remove() }
            try part.write(body)
            guard rename(part.path, target) == 0 else { throw StreamFailure.unwritable(path) }
        }

        /// Returns the path of the file to replace, without links; nil if there is a pipe, a device
        /// or a link to a missing file.
        private static func replaceable(_ path: String) throws -> String? {
            var found = stat()
            guard stat(path, &found) == 0 else {
                // A link to a missing file: the file is created through the link.
                return lstat(path, &found) == 0 ? nil : path
            }
            guard found.st_mode & S_IFMT == S_IFREG else { return nil }
            guard let target = realpath(path, nil) else { throw StreamFailure.unwritable(path) }
            defer { free(target) }
            return String(cString: target)
        }

        /// Writes to the file or device at a path.
        ///
        /// - Parameters:
        ///   - flags: more flags of `open`.
        ///   - name: the name of the file in errors.
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

        /// The columns of the terminal; nil if standard output is not a terminal.
        static var width: Int? {
            var size = winsize()
            guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
                return nil
            }
            return Int(size.ws_col)
        }

        /// Whether to print colors: on a terminal, unless `NO_COLOR` is set (no-color.org).
        static let isColored =
            isatty(STDOUT_FILENO) == 1
            && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
    }

    /// A file or standard stream could not be read or written, or a command failed.
    public struct StreamFailure: Error, LocalizedError, CustomStringConvertible {
        public let description: String
        public var errorDescription: String? { description.asSentence }
        public init(_ description: String) { self.description = description }
    }

    /// Colors by meaning (codes of ECMA-48).
    enum Ink: String {
        case old = "31"
        case new = "32"
        case dim = "2"
        case bold = "1"

        func callAsFunction(_ text: String) -> String {
            Output.isColored ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
        }
    }

    extension String {
        /// The text with escapes for characters that move the cursor, end a line or change the
        /// direction of text. Text from a server then stays on its line and in its order.
        public var visible: String {
            guard unicodeScalars.contains(where: \.isDisplayControl) else { return self }
            return unicodeScalars.map {
                $0.isDisplayControl ? $0.escaped(asASCII: true) : String($0)
            }.joined()
        }

        /// Returns the text, or its start and its end with its length between them if it has more
        /// than `countMax` characters (Unicode scalars). An error's end says what to do.
        public func shortened(to countMax: Int) -> String {
            let scalars = unicodeScalars
            guard scalars.count > countMax else { return self }
            let start = String(scalars.prefix(countMax * 2 / 3))
            return "\(start)... (\(utf8.count) bytes) ...\(String(scalars.suffix(countMax / 3)))"
        }

        /// The text as one word for a shell.
        var shellWord: String {
            let plain = { (character: Character) in
                character.isASCII && (character.isLetter || character.isNumber)
                    || "-_./:=@%+,".contains(character)
            }
            // A command takes a word that begins with a hyphen for an option.
            guard first != "-" || self == "-" else { return "./\(self)".shellWord }
            guard isEmpty || !allSatisfy(plain) else { return self }
            return "'\(replacing("'", with: "'\\''"))'"
        }

        func padded(to width: Int) -> String {
            self + String(repeating: " ", count: max(1, width - count))
        }
    }

    extension Timestamp {
        /// The time in UTC with milliseconds.
        var text: String {
            let (seconds, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1_000)
            // Before 1970 the rest is negative, and the second is the one before.
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
