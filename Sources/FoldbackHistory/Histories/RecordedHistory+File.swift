import Foldback

/// Histories as files: a first line about the log, then the entries as `foldback log --json` prints
/// them.
///
/// ```
/// {"codec":1,"foldback":1,"kind":"acknowledgement","replica":"me","version":1}
/// {"at":1795209600000,"event":{"liked":{"post":"a"}},"intent":1,"kind":"intent","replica":"me","sequence":1}
/// {"at":1795209600007,"intent":1,"kind":"rejected","message":"no","replica":"me","sequence":2}
/// ```
/// An event is written as `{"bytes":[…]}` if encoding its JSON does not return the same bytes. If
/// the events of an entry have another format than the first line states, the entry has its own
/// `codec` and `version`.
extension RecordedHistory {
    private static var format: Int64 { 1 }

    /// The text of the file.
    ///
    /// - Complexity: O(n) in entries and their bytes.
    public var ndjson: String {
        var text = ""
        writeLines { text += "\($0)\n" }
        return text
    }

    /// Calls `body` with each line of the file.
    package func writeLines(_ body: (JSON) throws -> Void) rethrows {
        let own = records.lazy.flatMap(\.entry.payloads).first?.format ?? .json
        try body(Self.head(kind, replica, own))
        for record in records { try body(LogEntry<Event>(record).fileJSON(own)) }
    }

    package static func head(
        _ kind: LogKind, _ replica: ReplicaID, _ format: EventFormat
    ) -> JSON {
        [
            "foldback": .integer(Self.format), "kind": .string(kind.rawValue),
            "replica": .string(replica.name), "codec": .integer(Int64(format.codec)),
            "version": .integer(Int64(format.version)),
        ]
    }
}

extension RecordedHistory where Event == [UInt8] {
    /// Creates the history from the text of a file. Empty lines are ignored.
    ///
    /// - Throws: ``HistoryFileError`` with the line.
    /// - Complexity: O(n log n) in entries.
    public init(ndjson text: String) throws {
        var lines = text.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }
        ).enumerated().filter { !$0.element.isEmpty }.makeIterator()
        guard let first = lines.next() else {
            throw HistoryFileError(line: 1, reason: "the file is empty")
        }
        func read<R>(_ line: Int, _ body: () throws -> R) throws -> R {
            do { return try body() } catch {
                throw HistoryFileError(line: line + 1, reason: "\(error)")
            }
        }
        let (kind, replica, format) = try read(first.offset) {
            try Self.head(JSON(parsing: String(first.element)))
        }
        var entries: [LogEntry<[UInt8]>] = []
        var lineOf: [LogSequence: Int] = [:]
        while let (index, line) = lines.next() {
            try read(index) {
                let json = try JSON(parsing: String(line))
                let entry = try LogEntry<[UInt8]>(fileJSON: json, format, replica)
                try Record(entry).requireLimits()
                lineOf[entry.sequence] = index
                entries.append(entry)
            }
        }
        do throws(FoldbackError) {
            self = try RecordedHistory(kind: kind, replica: replica, entries: entries)
        } catch {
            guard case .doesNotFollow(let sequence, _) = error else { throw error }
            throw HistoryFileError(line: (lineOf[sequence] ?? 0) + 1, reason: "\(error)")
        }
    }

    private static func head(_ json: JSON) throws -> (LogKind, ReplicaID, EventFormat) {
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
        return (kind, replica, try EventFormat(json) ?? .json)
    }
}

/// An error in a history file.
public struct HistoryFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line number, from 1 up.
    public let line: Int
    public let reason: String
    public var description: String { "line \(line): \(reason)" }

    struct Flaw: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}

// MARK: Entries

extension EventFormat {
    /// Reads the format of an object; nil if the object states none.
    init?(_ json: JSON) throws {
        guard let codec = json["codec"] else { return nil }
        guard let codec = codec.integerValue.flatMap({ UInt8(exactly: $0) }),
            let version = json["version"]?.integerValue.flatMap({ UInt16(exactly: $0) })
        else { throw HistoryFileError.Flaw("\"codec\" and \"version\" are not an event format") }
        self.init(codec: codec, version: version)
    }
}

extension LogEntry {
    /// Returns the entry as a line of a file, from which the same entry can be read.
    package func fileJSON(_ format: EventFormat) -> JSON {
        guard case .object(var object) = json else { return json }
        object["replica"] = .string(replica.name)
        func event(_ event: LoggedEvent<Event>) -> JSON { JSON(exactly: event.bytes) }
        func note(_ event: LoggedEvent<Event>, in object: inout JSON.Object) {
            guard event.format != format else { return }
            object["codec"] = .integer(Int64(event.format.codec))
            object["version"] = .integer(Int64(event.format.version))
        }
        switch content {
        case .intent(_, let own, _, _, _):
            object["event"] = event(own)
            note(own, in: &object)
        case .acknowledged(_, _, let replacement?):
            object["event"] = event(replacement)
            note(replacement, in: &object)
        case .confirmed(let events, _):
            object["events"] = .array(
                events.map { confirmed in
                    var object: JSON.Object = [
                        "position": .of(confirmed.position), "event": event(confirmed.event),
                    ]
                    object["origin"] = confirmed.origin.map { .of($0) }
                    note(confirmed.event, in: &object)
                    return .object(object)
                })
        case .acknowledged, .changed: break
        }
        return .object(object)
    }
}

extension JSON {
    /// Creates JSON from which `exactBytes` returns the same bytes: the bytes as JSON if encoding
    /// it returns them again, else `{"bytes":[…]}`.
    fileprivate init(exactly bytes: [UInt8]) {
        if let json = try? JSON(parsing: bytes), json.encoded == bytes, json["bytes"] == nil {
            self = json
        } else {
            self = ["bytes": .array(bytes.map { .integer(Int64($0)) })]
        }
    }

    func exactBytes() throws -> [UInt8] {
        guard let bytes = self["bytes"], let list = bytes.arrayValue,
            objectValue?.members.count == 1
        else { return encoded }
        return try list.map { number in
            guard let byte = number.integerValue.flatMap({ UInt8(exactly: $0) }) else {
                throw HistoryFileError.Flaw("\"bytes\" has an element that is not a byte")
            }
            return byte
        }
    }
}
