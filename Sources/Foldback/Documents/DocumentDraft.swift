/// A document in the middle of the changes of one event.
///
/// Like ``DocumentEvent/Change/made(of:at:_:)``, for many changes: each costs as much as the
/// change, not as much as the document.
struct DocumentDraft {
    /// Nil if the document is absent.
    private var content: JSONDraft?
    private let isCounted: Bool
    /// The bytes of the document as JSON text, 0 if it is absent; valid if they are counted.
    private(set) var byteCount: Int

    /// - Parameters:
    ///   - document: the document before the changes; nil if it is absent.
    ///   - isCounted: whether ``byteCount`` is needed.
    init(of document: JSON?, isCounted: Bool) {
        content = document.map { .value($0) }
        self.isCounted = isCounted
        byteCount = isCounted ? document?.encoded.count ?? 0 : 0
    }

    /// The document after the changes so far; nil if it is absent.
    ///
    /// - Complexity: one pass over each object that was changed.
    var document: JSON? { content?.json }
    var isPresent: Bool { content != nil }

    /// Changes the document.
    ///
    /// - Throws: ``DocumentConflict``, with nothing changed.
    mutating func make(
        _ change: DocumentEvent.Change, at key: ExactString, _ require: DocumentEvent.Require?
    ) throws(DocumentConflict) {
        try DocumentEvent.Change.check(require, at: key, isPresent: content != nil)
        switch change {
        case .set(let value): replace(by: value)
        case .delete: replace(by: nil)
        case .merge(.object(let patch)):
            guard let object = objectDraft() else {
                replace(by: JSON.null.merged(with: .object(patch)))
                return
            }
            let before = object.growth
            object.merge(patch)
            byteCount += object.growth - before
        case .merge(let value): replace(by: value)
        case .increment(let field, let amount):
            guard content != nil else { throw .isAbsent(key) }
            guard let object = objectDraft() else { throw .isNotObject(key) }
            let before = object.growth
            guard case .value(let value) = object[field] ?? .value(0) else {
                throw .isNotNumber(key, field: field)
            }
            object.set(
                try DocumentEvent.Change.sum(value, amount, at: key, field), at: field)
            byteCount += object.growth - before
        }
    }

    private mutating func replace(by document: JSON?) {
        self = DocumentDraft(of: document, isCounted: isCounted)
    }

    /// Returns the draft of the document; nil if it is absent or not an object.
    private mutating func objectDraft() -> ObjectDraft? {
        switch content {
        case .object(let draft): return draft
        case .value(.object(let object)):
            let draft = ObjectDraft(object, isCounted: isCounted)
            content = .object(draft)
            return draft
        case .value, nil: return nil
        }
    }
}

extension [DocumentEvent] {
    /// Calls `body` with each change in these events, also inside `all`, in order.
    func forEachChange<E: Error>(
        _ body: (ExactString, DocumentEvent.Change, DocumentEvent.Require?) throws(E) -> Void
    ) throws(E) {
        for event in self {
            switch event {
            case .change(let key, let change, let require): try body(key, change, require)
            case .all(let events): try events.forEachChange(body)
            }
        }
    }
}
