/// The inverse of an event is what its keys held before.
extension Documents: Undoable {
    public func inverse(of event: DocumentEvent, _ context: EventContext) -> DocumentEvent? {
        event.inverse { self[$0] }
    }
}

/// The inverse is that of ``Documents``, so the log does not depend on the choice between them.
extension StoredDocuments: UndoableRows {
    public static func inverse(
        of event: DocumentEvent, in rows: inout TouchedRows, _ context: EventContext
    ) throws -> DocumentEvent? {
        try event.inverse { try rows.document($0) }
    }
}

extension Documents: SharesInverse {
    package static var inverseOwner: ExactString { Documents.identity.name }
}

extension StoredDocuments: SharesInverse {
    package static var inverseOwner: ExactString { Documents.identity.name }
}

extension DocumentEvent {
    /// Returns the event that gives each of its keys the document that it has now, or removes it if it
    /// has none.
    fileprivate func inverse(
        _ document: (ExactString) throws -> JSON?
    ) rethrows -> DocumentEvent {
        func restoring(_ key: ExactString) throws -> DocumentEvent {
            try document(key).map { .set(key, $0) } ?? .delete(key)
        }
        if case .change(let key, _, _) = self { return try restoring(key) }
        let changes = try keys.sorted().map(restoring)
        return changes.count == 1 ? changes[0] : .all(changes)
    }
}
