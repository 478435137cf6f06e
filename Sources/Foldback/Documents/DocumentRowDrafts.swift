/// The rows of ``StoredDocuments`` in the middle of the changes of one event.
///
/// Each row is parsed once and written once, however many changes it has. The changes, errors and
/// reads are those of the changes one after another, each with its own row.
struct DocumentRowDrafts {
    /// A row of documents whose keys have the same hash.
    private struct Bucket {
        /// The row before the event.
        let object: JSON.Object
        /// The keys that the event touches.
        var keys: [ExactString] = []
        /// The bytes of the members, each with its name, a colon and a comma.
        var memberBytes: Int
    }

    private var documents: [ExactString: DocumentDraft] = [:]
    private var buckets: [DocumentKey: Bucket] = [:]
    /// The rows in the order in which they were touched.
    private var places: [DocumentKey] = []

    /// Changes a document.
    ///
    /// - Throws: ``DocumentConflict``, ``RowError``. The event does not apply then.
    mutating func make(
        _ change: DocumentEvent.Change, at key: ExactString, _ require: DocumentEvent.Require?,
        reading rows: inout TouchedRows
    ) throws {
        let place = DocumentKey(key)
        let known = documents.removeValue(forKey: key)
        // Reads the document only if the change needs it, because a read connects this intent with
        // others that write the document.
        let isRead = require != nil || change.readsDocument
        var draft = try known ?? load(key, at: place, isRead: isRead, from: &rows)
        let (bytesBefore, countBefore) = (draft.byteCount, draft.isPresent ? 1 : 0)
        try draft.make(change, at: key, require)
        documents[key] = draft
        switch place {
        case .whole: try Self.requireFits(draft.byteCount)
        case .hashed:
            let added = (draft.isPresent ? 1 : 0) - countBefore
            let nameBytes = JSON.string(key).encoded.count + 2
            buckets[place]?.memberBytes += draft.byteCount - bytesBefore + added * nameBytes
            // The last member has no comma. The row has two braces.
            try Self.requireFits((buckets[place]?.memberBytes ?? 0) + 1)
        }
    }

    private mutating func load(
        _ key: ExactString, at place: DocumentKey, isRead: Bool, from rows: inout TouchedRows
    ) throws -> DocumentDraft {
        switch place {
        case .whole:
            let document = isRead ? try rows.document(key) : nil
            places.append(place)
            return DocumentDraft(of: document, isCounted: true)
        case .hashed:
            if buckets[place] == nil {
                let object = try rows.bucket(at: place)
                let bytes = object.isEmpty ? 0 : JSON.object(object).encoded.count - 1
                buckets[place] = Bucket(object: object, memberBytes: bytes)
                places.append(place)
            }
            buckets[place]?.keys.append(key)
            return DocumentDraft(of: buckets[place]?.object[key], isCounted: true)
        }
    }

    /// Throws the error that ``RowTable`` throws when such a row is written. A later change could
    /// make the row smaller again, and the error must not depend on how rows are written.
    private static func requireFits(_ byteCount: Int) throws(RowError) {
        guard byteCount <= Limits.rowBytesMax else {
            throw .rowTooLarge(table: StoredDocuments.table.name, bytes: byteCount)
        }
    }

    /// Writes the rows.
    ///
    /// - Complexity: one pass over the documents.
    func write(to rows: inout TouchedRows) throws {
        for place in places {
            switch place {
            case .whole(let key): try rows.put(row: documents[key]?.document, at: place)
            case .hashed:
                guard let bucket = buckets[place] else { continue }
                let changes = bucket.keys.sorted().map {
                    (name: $0, value: documents[$0]?.document)
                }
                let object = bucket.object.changed(by: changes) { _, document in document }
                try rows.put(row: object.isEmpty ? nil : .object(object), at: place)
            }
        }
    }
}
