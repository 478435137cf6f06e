#if ReplayTool
    import Foldback
    import Foundation

    /// Reads lines of JSON objects from a file, pipe or device, in pieces of at most 64 KiB.
    ///
    /// A line that cannot be a JSON object, or that is longer than any entry, is refused before it
    /// has arrived completely, so an endless line costs no memory. Reading continues at the next
    /// line.
    ///
    /// ```swift
    /// var lines = InputLines()
    /// while let line = try lines.next() { … }
    /// ```
    ///
    /// Reading blocks the thread.
    public struct InputLines {
        /// A line of input.
        public enum Line {
            /// A line without its newline. The bytes need not be JSON, or text.
            case whole([UInt8])
            /// A line that was skipped, and why.
            case refused(reason: String)
        }

        private static let pieceBytes = 1 << 16

        private let descriptor: Int32
        private let name: String
        private var piece = [UInt8](repeating: 0, count: pieceBytes)
        /// The bytes that were read and not returned yet are those from `start` on.
        private var buffer: [UInt8] = []
        private var start = 0
        /// Judges the line that is in the buffer from `start` on, once it is long.
        private var prefix = JSONObjectPrefix()
        private var isSkipping = false
        /// The bytes that the next line may have.
        private var bytesMax: Int
        private var isAtEnd = false

        /// Reads standard input.
        public init() {
            self.init(
                STDIN_FILENO, named: "standard input", firstLineBytesMax: Limits.lineBytesMax)
        }

        /// - Parameters:
        ///   - name: the name of the input in errors.
        ///   - firstLineBytesMax: the bytes that the first line may have.
        init(_ descriptor: Int32, named name: String, firstLineBytesMax: Int) {
            bytesMax = firstLineBytesMax
            self.descriptor = descriptor
            self.name = name
        }

        /// Returns the next line; nil at the end of input. The last line needs no newline.
        ///
        /// - Throws: ``StreamFailure`` if the input cannot be read.
        public mutating func next() throws -> Line? {
            var searched = start
            while true {
                if let end = Self.newline(in: buffer, from: searched) {
                    let line = start..<end
                    start = end + 1
                    prefix = JSONObjectPrefix()
                    guard isSkipping else {
                        bytesMax = Limits.lineBytesMax
                        return .whole(Array(buffer[line]))
                    }
                    isSkipping = false
                    searched = start
                    continue
                }
                guard !isAtEnd else {
                    defer { start = buffer.count }
                    guard start < buffer.count, !isSkipping else { return nil }
                    return .whole(Array(buffer[start...]))
                }
                if isSkipping { start = buffer.count }
                buffer.removeSubrange(..<start)
                start = 0
                if let reason = refusal() {
                    buffer = []
                    isSkipping = true
                    return .refused(reason: reason)
                }
                searched = buffer.count
                try readPiece()
            }
        }

        /// Returns why the unfinished line in the buffer is refused; nil if it is not.
        private mutating func refusal() -> String? {
            // The parser judges short lines, and says more.
            guard buffer.count >= Self.pieceBytes else { return nil }
            guard buffer.count <= bytesMax else {
                return
                    "the line has more than \(bytesMax) bytes, and no such line needs as many; make it smaller"
            }
            do {
                try buffer.withUnsafeBytes { bytes in
                    try prefix.take(UnsafeRawBufferPointer(rebasing: bytes[prefix.count...]))
                }
                return nil
            } catch {
                return "the line is not a JSON object: \(error)"
            }
        }

        private mutating func readPiece() throws {
            let count = try Descriptor.read(descriptor, into: &piece, named: name)
            isAtEnd = count == 0
            buffer.append(contentsOf: piece[..<count])
        }

        private static func newline(in bytes: [UInt8], from start: Int) -> Int? {
            bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, start < bytes.count,
                    let found = memchr(base + start, Int32(UInt8(ascii: "\n")), bytes.count - start)
                else { return nil }
                return UnsafeRawPointer(found) - base
            }
        }
    }
#endif
