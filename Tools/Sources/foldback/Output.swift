import Foundation

/// Standard output that says when it cannot be written to.
enum Output {
    static func write(_ bytes: [UInt8]) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw StreamFailure("standard output cannot be written to: \(error)")
        }
    }

    static func write(_ text: String) throws { try write(Array(text.utf8)) }
}

/// The session has nobody left to talk to.
struct StreamFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension String {
    /// The text with control characters written out, so that what a server said stays on its line and
    /// moves no cursor.
    var visible: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { value < 0x20 || 0x7F...0x9F ~= value }
}
