import Foldback

/// The documents of a log in memory (`Documents`) or as rows (`StoredDocuments`), with the same
/// reading for both.
public protocol ShownDocuments: EventFold where Event == DocumentEvent {
    /// Returns all documents and the overlay after the last commit.
    ///
    /// - Throws: an error of the rows, such as `.damaged`. Documents in memory do not throw.
    static func state(of store: Store<Self>) throws -> ShownState

    /// Returns one document of the view, nil if it does not exist, and the intents of the overlay
    /// that touch its key.
    ///
    /// - Throws: an error of the rows, such as `.damaged`. Documents in memory do not throw.
    static func document(
        _ key: ExactString, in store: Store<Self>
    ) throws -> (value: JSON?, overlay: [IntentNumber])

    /// Returns the confirmed events that could not be applied (F9).
    static func faults(of store: Store<Self>) -> [Fault]
}

/// All documents at one sequence, and the overlay.
public struct ShownState: Sendable {
    public let sequence: LogSequence
    public let through: Position
    /// The view: an object with each document under its key.
    public let documents: JSON
    /// Confirmed state, in the same form.
    public let confirmed: JSON
    public let pending: [IntentNumber]
    public let accepted: [IntentNumber]
    /// Intents that are pending or accepted, but left out of the view.
    public let conflicted: [IntentNumber]

    /// Creates the state that a snapshot shows.
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
