import Foldback

/// Reads a history file line by line, so that a wrong file is refused at its first wrong line.
///
/// ```swift
/// var reader = HistoryFileReader()
/// while let line = try lines.next() { try reader.read(line) }
/// let history = try reader.history()
/// ```
package struct HistoryFileReader {
    private typealias Head = (
        kind: LogKind, replica: ReplicaID, format: EventFormat, shared: SharedConflicts
    )

    private var head: Head?
    private var lineCount = 0
    private var entries: [LogEntry<[UInt8]>] = []
    private var lineOf: [LogSequence: Int] = [:]

    package init() {}

    /// Reads the next line, without its newline. Ignores an empty line.
    ///
    /// - Throws: ``HistoryFileError`` with the line's number.
    package mutating func read(_ line: some Collection<UInt8>) throws(HistoryFileError) {
        lineCount += 1
        // Some programs end lines with a carriage return and a newline.
        let isEmpty = line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")])
        guard !isEmpty else { return }
        do {
            try Limit.line.require(line.count)
            let json = try JSON(parsing: Array(line))
            guard let head else {
                head = try Self.head(json)
                return
            }
            let entry = try LogEntry<[UInt8]>(fileJSON: json, head.format, head.replica)
            try Record(entry).requireLimits()
            lineOf[entry.sequence] = lineCount
            entries.append(entry)
        } catch {
            let isOther = head == nil && error is JSONError
            let reason = isOther ? "the file is neither a log nor an export of a log: " : ""
            throw HistoryFileError(line: lineCount, reason: reason + "\(error)")
        }
    }

    /// Returns the error for a next line that cannot be read.
    package func refusal(ofNextLine reason: String) -> HistoryFileError {
        HistoryFileError(line: lineCount + 1, reason: reason)
    }

    /// Returns the history of all lines.
    ///
    /// - Throws: ``HistoryFileError`` with the line of the first entry that does not follow.
    /// - Complexity: O(n log n) in entries.
    package func history() throws(HistoryFileError) -> RecordedHistory<[UInt8]> {
        guard let head else { throw HistoryFileError(line: 1, reason: "the file is empty") }
        do throws(HistoryError) {
            return try RecordedHistory(
                kind: head.kind, replica: head.replica, entries: entries,
                shared: head.shared)
        } catch {
            guard case .doesNotFollow(let sequence, _) = error else {
                throw HistoryFileError(line: lineCount, reason: "\(error)")
            }
            throw HistoryFileError(line: lineOf[sequence] ?? 1, reason: "\(error)")
        }
    }

    private static func head(_ json: JSON) throws -> Head {
        guard let format = json["foldback"]?.integerValue else {
            throw HistoryFileError.Flaw(
                "the file is not a history: the first line lacks \"foldback\"")
        }
        guard format == 1 else {
            throw HistoryFileError.Flaw(
                "a newer Foldback wrote the file (format \(format)); use that version")
        }
        guard let kind = json["kind"]?.stringValue.flatMap({ LogKind(rawValue: $0) }),
            let replica = json["replica"]?.stringValue.flatMap({ ReplicaID($0) })
        else { throw HistoryFileError.Flaw("the first line lacks \"kind\" or \"replica\"") }
        let shared = try json["conflicts"].map { try SharedConflicts(fileJSON: $0) }
        return (kind, replica, try EventFormat(json) ?? .json, shared ?? SharedConflicts())
    }
}
