/// JSON documents by key as rows on disk, for more documents than fit in memory.
///
/// Events, answers and errors are the same as those of ``Documents``. The log does not depend on
/// the choice: it can be opened with one type, and later with the other. Rows catch up with the log
/// while it is opened.
///
/// ```swift
/// let store = try await Store.open(
///     at: directory, StoredDocuments.self, confirmedBy: .downlink, durability: .durable)
/// try await store.record(.set("post", ["likes": 0]))
/// if let post = try store.read({ try $0.document("post") }) { print(post) }  // {"likes":0}
/// ```
///
/// A document has at most 16 MiB of JSON text. A change that makes it larger does not apply
/// (`RowError`), also if a later change of the same `all` makes it smaller again. An event reads
/// and writes each document that it changes once; ``Documents`` says what one event may cost at
/// most.
public enum StoredDocuments: StoredProjection {
    static let table = RowTable("documents", key: DocumentKey.self, codec: DocumentRowCodec())

    public static let schema = RowSchema(table)

    public static var codec: any EventCodec<DocumentEvent> { DocumentCodec() }

    /// - Throws: ``DocumentConflict``, ``RowError``.
    public static func apply(
        _ event: DocumentEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .change(let key, let change, let require):
            // Read the document only if the change needs it. A read connects this intent with
            // others that write the document.
            let isRead = require != nil || change.readsDocument
            let document = isRead ? try rows.document(key) : nil
            try rows.put(try change.made(of: document, at: key, require), at: key)
        case .all(let events):
            // Changes drafts, so that each row is read and written once. If one change throws, no
            // row was written.
            var drafts = DocumentRowDrafts()
            try events.forEachChange { key, change, require throws(any Error) in
                try drafts.make(change, at: key, require, reading: &rows)
            }
            try drafts.write(to: &rows)
        }
    }
}

extension TouchedRows {
    mutating func document(_ key: ExactString) throws -> JSON? {
        let place = DocumentKey(key)
        return place.document(key, in: try get(place, in: StoredDocuments.table))
    }

    /// Writes the document at `key`, or removes it if `document` is nil.
    fileprivate mutating func put(_ document: JSON?, at key: ExactString) throws {
        let place = DocumentKey(key)
        switch place {
        case .whole: try put(row: document, at: place)
        case .hashed:
            var bucket = try bucket(at: place)
            bucket[key] = document
            try put(row: bucket.isEmpty ? nil : .object(bucket), at: place)
        }
    }

    /// Returns the documents in a row of documents whose keys have the same hash.
    mutating func bucket(at place: DocumentKey) throws -> JSON.Object {
        try get(place, in: StoredDocuments.table)?.objectValue ?? JSON.Object()
    }

    /// Writes the row at `place`, or removes it if `row` is nil.
    mutating func put(row: JSON?, at place: DocumentKey) throws {
        if let row {
            try put(row, at: place, in: StoredDocuments.table)
        } else {
            try remove(place, from: StoredDocuments.table)
        }
    }
}

extension RowReader where P == StoredDocuments {
    /// Returns the document at `key`, or nil if it is absent.
    ///
    /// - Complexity: O(log n) in documents and in the overlay's rows, and the parsing of one
    ///   document.
    public borrowing func document(_ key: ExactString) throws -> JSON? {
        let place = DocumentKey(key)
        return place.document(key, in: try get(place, in: StoredDocuments.table))
    }

    /// Returns all documents as one JSON object, like ``Documents/json``.
    ///
    /// - Complexity: O(n log n) in documents.
    public borrowing func documents() throws -> JSON {
        var members: [(name: ExactString, value: JSON)] = []
        for entry in try page(of: StoredDocuments.table, limit: .max) {
            switch entry.key {
            case .whole(let key): members.append((key, entry.row))
            case .hashed:
                for (key, document) in entry.row.objectValue?.members ?? [] {
                    members.append((key, document))
                }
            }
        }
        return .object(JSON.Object(lastOf: members))
    }

    /// Returns the pending and accepted intents that touch `key`, like
    /// ``Snapshot/overlay(touching:)`` of ``Documents``. Conflicted and confirm-only intents are
    /// included.
    ///
    /// - Complexity: O(n) in the overlay.
    public borrowing func overlay(touching key: ExactString) -> [OverlayIntent<DocumentEvent>] {
        overlay.filter { $0.event?.keys.contains(key) ?? false }
    }
}

/// The key of a document's row.
enum DocumentKey: UnambiguousRowKey {
    /// The document's own key. The row is the document.
    case whole(ExactString)
    /// The hash of a key that is too long for a row's key. The row is an object of all documents
    /// with this hash, by key.
    case hashed(UInt32)

    init(_ key: ExactString) {
        // A row's key has one byte for the case, each zero byte as two bytes, and two bytes at the
        // end.
        let count = key.string.utf8.reduce(3) { $0 + ($1 == 0 ? 2 : 1) }
        guard count > KeyEncoder.bytesMax else {
            self = .whole(key)
            return
        }
        let hash = Checksum.of(Array(key.string.utf8).span.bytes, seed: 0)
        self = .hashed(UInt32(truncatingIfNeeded: hash))
    }

    func document(_ key: ExactString, in row: JSON?) -> JSON? {
        switch self {
        case .whole: row
        case .hashed: row?[key]
        }
    }

    func encode(to encoder: inout KeyEncoder) {
        switch self {
        case .whole(let key):
            encoder.append(number: 0 as UInt8)
            encoder.append(key)
        case .hashed(let hash):
            encoder.append(number: 1 as UInt8)
            encoder.append(number: hash)
        }
    }

    init(from decoder: inout KeyDecoder) throws {
        switch try decoder.number(UInt8.self) {
        case 0: self = .whole(try decoder.next())
        case 1: self = .hashed(try decoder.number())
        default: throw RowError.unreadableKey
        }
    }
}

extension DocumentKey: CustomStringConvertible {
    /// The document's key, as the replay tools show it.
    var description: String {
        switch self {
        case .whole(let key): key.string
        case .hashed(let hash): "(long keys with hash \(hash))"
        }
    }
}

/// The codec of document rows: JSON text.
struct DocumentRowCodec: ByteCodec {
    func encode(_ document: JSON, into output: inout OutputBuffer) {
        output.append(bytes: document.encoded)
    }

    func decode(_ bytes: RawSpan) throws -> JSON { try JSON(parsing: [UInt8](copying: bytes)) }
}
