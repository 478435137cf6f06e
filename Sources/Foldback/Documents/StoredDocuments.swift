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
/// (`RowError`).
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
            // If one throws, the caller drops all changes.
            for event in events { try apply(event, context, to: &rows) }
        }
    }
}

extension TouchedRows {
    fileprivate mutating func document(_ key: ExactString) throws -> JSON? {
        let place = DocumentKey(key)
        return place.document(key, in: try get(place, in: StoredDocuments.table))
    }

    /// Writes the document at `key`, or removes it if `document` is nil.
    fileprivate mutating func put(_ document: JSON?, at key: ExactString) throws {
        let place = DocumentKey(key)
        let row: JSON?
        switch place {
        case .whole: row = document
        case .hashed:
            var bucket = try get(place, in: StoredDocuments.table)?.objectValue ?? JSON.Object()
            bucket[key] = document
            row = bucket.isEmpty ? nil : .object(bucket)
        }
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
    /// - Complexity: O(n) in documents.
    public borrowing func documents() throws -> JSON {
        var object = JSON.Object()
        for entry in try page(of: StoredDocuments.table, limit: .max) {
            switch entry.key {
            case .whole(let key): object[key] = entry.row
            case .hashed:
                for (key, document) in entry.row.objectValue?.members ?? [] {
                    object[key] = document
                }
            }
        }
        return .object(object)
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
enum DocumentKey: RowKey {
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

/// The codec of document rows: JSON text.
struct DocumentRowCodec: ByteCodec {
    func encode(_ document: JSON, into output: inout OutputBuffer) {
        output.append(bytes: document.encoded)
    }

    func decode(_ bytes: RawSpan) throws -> JSON { try JSON(parsing: [UInt8](copying: bytes)) }
}
