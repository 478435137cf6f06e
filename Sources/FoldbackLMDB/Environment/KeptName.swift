/// The names of logs that are kept beside the log that continued them: that log's name, `.kept-`, and
/// 16 hexadecimal digits (N6).
package enum KeptName {
    private static let infix = ".kept-"
    private static let digitCount = 16

    /// Returns the path of a kept log in the same parent directory, so that a rename is enough.
    ///
    /// - Parameters:
    ///   - path: the path of the log that continued it.
    ///   - hash: the XXH64 of the kept log's replica id.
    package static func path(beside path: String, hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        let zeros = String(repeating: "0", count: digitCount - digits.count)
        return "\(Platform.trimmed(path))\(infix)\(zeros)\(digits)"
    }

    /// Whether a path has this form.
    package static func isKept(_ path: String) -> Bool {
        path.ranges(of: infix).last.map { isHash(path[$0.upperBound...]) } ?? false
    }

    /// Returns the paths of this form beside a log, ascending; none if the parent directory does not
    /// exist.
    package static func all(beside path: String) throws(LMDBError) -> [String] {
        let root = Platform.parent(of: path)
        guard try Platform.kind(of: root).0 != .absent else { return [] }
        let trimmed = Platform.trimmed(path)
        let prefix = "\(trimmed.split(separator: "/").last ?? trimmed)\(infix)"
        return try Platform.names(in: root)
            .filter { $0.hasPrefix(prefix) && isHash($0.dropFirst(prefix.count)) }
            .sorted().map { "\(trimmed)\($0.dropFirst(prefix.count - infix.count))" }
    }

    private static func isHash(_ text: Substring) -> Bool {
        text.utf8.count == digitCount
            && text.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
    }
}
