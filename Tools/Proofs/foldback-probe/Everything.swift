import Foldback
import FoldbackShell

/// Everything that a store returns about the entries up to a sequence, as text to compare.
struct Everything {
    private(set) var lines: [String] = []

    /// Reads everything from the store.
    ///
    /// Entries after `sequence` must not have changed the documents, because the lines include the
    /// current view.
    init<P: ShownDocuments>(
        _ store: Store<P>, upTo sequence: LogSequence
    ) async throws(LogError) {
        try addShown(of: store)
        let now = try await store.snapshot(of: Documents.self, at: sequence)
        lines.append("view \(now.view.json)")
        lines.append("confirmed \(now.confirmed.json)")
        lines.append("\(now.pending) \(now.accepted) \(now.conflicted) \(now.through)")
        lines.append("\(store.status.kind)")
        var next: LogSequence = 1
        while next <= sequence {
            let entries = try store.entries(from: next, countMax: 100)
            for entry in entries where entry.sequence <= sequence {
                lines.append(
                    "\(entry.sequence) \(entry.time) \(entry.replica) \(entry.info) \(entry.content)"
                )
            }
            guard let last = entries.last else { break }
            next = LogSequence(last.sequence.value + 1)
        }
        try addIntents(of: store, upTo: sequence)
        for past in stride(from: UInt64(0), to: sequence.value, by: 25) {
            let snapshot = try await store.snapshot(of: Documents.self, at: LogSequence(past))
            lines.append("at \(past) \(snapshot.view.json) \(snapshot.pending)")
        }
        lines.append("\(P.faults(of: store))")
    }

    private mutating func addShown<P: ShownDocuments>(
        of store: Store<P>
    ) throws(LogError) {
        do {
            let shown = try P.state(of: store)
            lines.append("shown \(shown.documents) \(shown.confirmed) \(shown.through)")
            lines.append("shown \(shown.pending) \(shown.accepted) \(shown.conflicted)")
        } catch let error as LogError {
            throw error
        } catch {
            lines.append("shown with an untyped error: \(error)")
        }
    }

    private mutating func addIntents<P: ShownDocuments>(
        of store: Store<P>, upTo sequence: LogSequence
    ) throws(LogError) {
        var number: UInt64 = 1
        while number < store.status.nextIntent.value {
            let intent = try store.intent(IntentNumber(number))
            guard intent.sequence <= sequence else { return }
            lines.append(
                "intent \(number) \(intent.id) \(intent.state) \(intent.isDismissed) "
                    + "\(String(describing: intent.event)) \(String(describing: intent.rejection)) "
                    + "\(String(describing: intent.answer))")
            number += 1
        }
    }
}
