import HashTreeCollections

/// JSON documents by key: the projection that comes with Foldback.
///
/// ```swift
/// let store = Store.inMemory(Documents.self, confirmedBy: .acknowledgement)
/// try await store.record(.set("post", ["likes": 0]))
/// try await store.record(.increment("post", field: "likes", by: .integer(1)))
/// print(store.view["post"]!)  // {"likes":1}
/// ```
///
/// Keys and fields are equal if their bytes are equal. Do not use it for documents that grow large,
/// because an event copies each object that it changes, once.
///
/// An event costs at most one pass over its bytes and over the documents that it changes, however
/// many changes an `all` has. `Limits.eventBytesMax` bounds its bytes: 16 MiB. Such an event on a
/// document of 16 MiB took 0.8 s to decode and apply, and 1.2 s on rows (<doc:Benchmarks>). While
/// the intent is pending, each rollback over it costs that again, and the writer does nothing else
/// meanwhile. So keep events small: they are also sent as a whole.
///
/// This type keeps all documents in memory. ``StoredDocuments`` keeps them as rows on disk. The
/// choice is made when a log is opened: both read the same log and make the same documents.
public struct Documents: Projection, Equatable {
    public typealias Key = ExactString

    /// The documents. The collection is persistent, so a published view shares all unchanged parts.
    public private(set) var byKey: TreeDictionary<ExactString, JSON> = [:]

    public init() {}

    init(byKey: TreeDictionary<ExactString, JSON>) { self.byKey = byKey }

    public subscript(key: ExactString) -> JSON? { byKey[key] }

    /// All documents as one JSON object.
    public var json: JSON {
        var object = JSON.Object()
        for (key, document) in byKey.sorted(by: { $0.key < $1.key }) { object[key] = document }
        return .object(object)
    }

    public static var codec: any EventCodec<DocumentEvent> { DocumentCodec() }

    public static var stateCodec: (any StateCodec<Documents>)? { DocumentsStateCodec() }

    public static func keys(
        touchedBy event: DocumentEvent, _ context: EventContext
    ) -> [ExactString] {
        event.keys
    }

    /// - Throws: ``DocumentConflict``, with nothing changed.
    public mutating func apply(_ event: DocumentEvent, _ context: EventContext) throws {
        try apply(event)
    }

    private mutating func apply(_ event: DocumentEvent) throws(DocumentConflict) {
        switch event {
        case .change(let key, let change, let require):
            byKey[key] = try change.made(of: byKey[key], at: key, require)
        case .all(let events):
            // Changes drafts, so that all events apply or none, and each document is made once.
            var drafts: [ExactString: DocumentDraft] = [:]
            try events.forEachChange { key, change, require throws(DocumentConflict) in
                try drafts[key, default: DocumentDraft(of: byKey[key], isCounted: false)]
                    .make(change, at: key, require)
            }
            for (key, draft) in drafts { byKey[key] = draft.document }
        }
    }
}

extension Documents: JSONRepresentable, MembersByName {
    package func member(named name: ExactString) -> Any?? { .some(self[name]) }
}
