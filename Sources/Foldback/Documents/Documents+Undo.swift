/// The inverse of an event is what its keys held before.
extension Documents: Undoable {
    public func inverse(of event: DocumentEvent, _ context: EventContext) -> DocumentEvent? {
        let changes = event.keys.sorted().map { key in
            self[key].map { .set(key, $0) } ?? DocumentEvent.delete(key)
        }
        return changes.count == 1 ? changes[0] : .all(changes)
    }
}
