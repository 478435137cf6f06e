import Foldback

/// Documents on a log, whatever keeps them: ``Documents`` in memory, ``StoredDocuments`` as rows.
public protocol ShownDocuments: EventFold where Event == DocumentEvent {
    /// What is seen of the last commit.
    static func state(of store: Store<Self>) throws -> ShownState

    /// One document of the view, nil where there is none, and the intents of the overlay that touch it.
    static func document(
        _ key: ExactString, in store: Store<Self>
    ) throws -> (value: JSON?, overlay: [IntentNumber])

    /// Confirmed events that could not be applied.
    static func faults(of store: Store<Self>) -> [Fault]
}

/// All documents at one sequence, and what is pending.
public struct ShownState: Sendable {
    public let sequence: LogSequence
    public let through: Position
    public let documents: JSON
    public let confirmed: JSON
    public let pending: [IntentNumber]
    public let accepted: [IntentNumber]
    public let conflicted: [IntentNumber]

    public init(_ snapshot: Snapshot<Documents>) {
        sequence = snapshot.sequence
        through = snapshot.through
        documents = snapshot.view.json
        confirmed = snapshot.confirmed.json
        pending = snapshot.pending
        accepted = snapshot.accepted
        conflicted = snapshot.conflicted
    }

    init(_ rows: borrowing RowReader<StoredDocuments>) throws {
        sequence = rows.sequence
        through = rows.through
        documents = try rows.documents()
        confirmed = try rows.confirmed { try $0.documents() }
        pending = rows.pending
        accepted = rows.accepted
        conflicted = rows.conflicted
    }
}

extension Documents: ShownDocuments {
    public static func state(of store: Store<Documents>) -> ShownState {
        ShownState(store.snapshot)
    }

    public static func document(
        _ key: ExactString, in store: Store<Documents>
    ) -> (value: JSON?, overlay: [IntentNumber]) {
        let snapshot = store.snapshot
        return (snapshot.view[key], snapshot.overlay(touching: key).map(\.number))
    }

    public static func faults(of store: Store<Documents>) -> [Fault] { store.faults }
}

extension StoredDocuments: ShownDocuments {
    public static func state(of store: Store<StoredDocuments>) throws -> ShownState {
        try store.read { try ShownState($0) }
    }

    public static func document(
        _ key: ExactString, in store: Store<StoredDocuments>
    ) throws -> (value: JSON?, overlay: [IntentNumber]) {
        try store.read { rows in
            (try rows.document(key), rows.overlay(touching: key).map(\.number))
        }
    }

    public static func faults(of store: Store<StoredDocuments>) -> [Fault] { store.faults }
}
