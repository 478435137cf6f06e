import FoldbackCollections

/// Why an intent of the overlay is conflicted.
package struct Conflict: Sendable {
    /// The place of the projection whose `apply` threw, in its group.
    package let refuser: Int
    package let error: any Error
    /// Whether the reason is that the intent undoes a conflicted one (F21). `refuser` refuses that one.
    package let isByUndone: Bool

    package init(refuser: Int, error: any Error, isByUndone: Bool = false) {
        self.refuser = refuser
        self.error = error
        self.isByUndone = isByUndone
    }
}

/// The reason why the view leaves out an intent that undoes a conflicted one.
package struct UndoneIntentIsConflicted: Error, CustomStringConvertible {
    let number: IntentNumber
    package var description: String {
        "it undoes intent \(number), which does not apply to the current view"
    }
}

/// The conflicted intents of the overlay, as one projection shows them.
package struct Conflicts: Sendable {
    private let found: NumberMap<IntentNumber, Conflict>
    /// The names of the projections of the group.
    private let names: [ExactString]
    /// The place of the projection in its group.
    private let own: Int

    package init(
        _ found: NumberMap<IntentNumber, Conflict>, among names: [ExactString], seenBy own: Int
    ) {
        self.found = found
        self.names = names
        self.own = own
    }

    /// The conflicted intents, ascending.
    package var keys: [IntentNumber] { found.keys }

    /// Returns why an intent is conflicted, in the words of the error; nil if it is not. Names the
    /// projection that refuses it if that is another one.
    package subscript(number: IntentNumber) -> String? {
        guard let conflict = found[number] else { return nil }
        let reason = conflict.error.words
        return conflict.refuser == own ? reason : "\(names[conflict.refuser]): \(reason)"
    }

    /// Calls `body` with each intent whose conflict began, ended, or has another reason since an
    /// earlier publication; nil stands for no conflicts.
    ///
    /// - Complexity: as ``SortedMap/forEachChange(since:areSame:_:)``.
    package func forEachChange(since old: Conflicts?, _ body: (IntentNumber) -> Void) {
        found.forEachChange(
            since: old?.found ?? NumberMap(),
            areSame: { $0.refuser == $1.refuser && $0.error.words == $1.error.words }
        ) { number, _, _ in body(number) }
    }
}
