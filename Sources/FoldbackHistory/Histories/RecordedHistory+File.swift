import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Histories as files: a first line about the log, then the entries as `foldback log --json` prints
/// them.
///
/// ```
/// {"codec":1,"foldback":1,"kind":"acknowledgement","replica":"me","version":1}
/// {"at":1795209600000,"event":{"liked":{"post":"a"}},"intent":1,"kind":"intent","replica":"me","sequence":1}
/// {"at":1795209600007,"intent":1,"kind":"rejected","message":"no","replica":"me","sequence":2}
/// ```
/// An intent also has its `inverse` if one is known, with its own format (F21). An event is written
/// as `{"bytes":[…]}` if encoding its JSON does not return the same bytes. If the events of an entry have another format than the first line states, the entry has its own
/// `codec` and `version`. If projections share their conflicts, the first line says from which
/// entry on: `"conflicts":[{"from":0,"projections":[{"kind":"value","name":"Channels"},…]},…]`.
extension RecordedHistory {
    private static var format: Int64 { 1 }

    /// The text of the file.
    ///
    /// - Complexity: O(n) in entries and their bytes.
    public var ndjson: String {
        var text = ""
        writeLines { text += String(decoding: $0.printed, as: UTF8.self) + "\n" }
        return text
    }

    /// Calls `body` with each line of the file.
    package func writeLines(_ body: (JSON) throws -> Void) rethrows {
        let own = records.lazy.flatMap(\.entry.payloads).first?.format ?? .json
        try body(Self.head(kind, replica, own, shared))
        for record in records { try body(LogEntry<Event>(record).fileJSON(own)) }
    }

    package static func head(
        _ kind: LogKind, _ replica: ReplicaID, _ format: EventFormat, _ shared: SharedConflicts
    ) -> JSON {
        var object: JSON.Object = [
            "foldback": .integer(Self.format), "kind": .string(kind.rawValue),
            "replica": .string(replica.name), "codec": .integer(Int64(format.codec)),
            "version": .integer(Int64(format.version)),
        ]
        if !shared.isEmpty { object["conflicts"] = shared.fileJSON }
        return .object(object)
    }
}

extension RecordedHistory where Event == [UInt8] {
    /// Creates the history from the text of a file. Empty lines are ignored.
    ///
    /// - Throws: ``HistoryFileError`` with the first line that is wrong.
    /// - Complexity: O(n log n) in entries.
    public init(ndjson text: String) throws {
        var reader = HistoryFileReader()
        let newline = UInt8(ascii: "\n")
        for line in text.utf8.split(separator: newline, omittingEmptySubsequences: false) {
            try reader.read(line)
        }
        self = try reader.history()
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
        switch content {
        case .intent(let intent):
            object["event"] = event(intent.event)
            object.note(intent.event.format, unless: format)
            object["inverse"] = intent.inverse.map { JSON(exactly: $0) }
        case .acknowledged(_, _, let replacement?):
            object["event"] = event(replacement)
            object.note(replacement.format, unless: format)
        case .confirmed(let events, _):
            object["events"] = .array(
                events.map { confirmed in
                    var object: JSON.Object = [
                        "position": .of(confirmed.position), "event": event(confirmed.event),
                    ]
                    object["origin"] = confirmed.origin.map { .of($0) }
                    object.note(confirmed.event.format, unless: format)
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

    /// Creates JSON from which `RecordedEvent(json:)` reads the same event.
    fileprivate init(exactly event: RecordedEvent) {
        let json = event.json()
        let isExact = (try? RecordedEvent(json: json))?.bytes == event.bytes
        self =
            isExact
            ? json
            : [
                "format": event.format.json(),
                "bytes": .string(Data(event.bytes).base64EncodedString()),
            ]
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
