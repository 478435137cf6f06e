import HashTreeCollections

/// Pending and accepted intents, in order of number.
package typealias Overlay = NumberMap<IntentNumber, UnsettledIntent>

/// The overlay of a ``LogState``, with its intents by once key and by the position that they await.
struct UnsettledIntents: Sendable {
    private(set) var byNumber = Overlay()
    /// The number of accepted intents.
    private(set) var acceptedCount = 0
    /// The numbers by once key. A key has more than one number only if the server accepted a
    /// rejected intent after its key had been used again (F7).
    private var onceKeys = IntentKeys()
    /// The numbers by replacing key. A key has several if the earlier intents could not be replaced
    /// (F16).
    private var replacingKeys = IntentKeys()
    /// The intents that were recorded as drafts: held, or released (F22).
    private(set) var drafts = Drafts()
    /// The intents that undo each intent, ascending (F21).
    private(set) var undoers = Undoers()
    /// Accepted intents by the position that will confirm them. Several can share a position.
    private var awaited = NumberMap<Position, TreeSet<IntentNumber>>()

    /// Returns the first intent with this once key (F14).
    func joined(by once: ExactString?) -> IntentNumber? {
        once.flatMap { onceKeys[$0].first }  // mutant: once-key
    }

    /// Returns the newest intent that was recorded with this replacing key (F16).
    func newest(replaceableBy key: ExactString) -> IntentNumber? { replacingKeys[key].last }

    /// Returns the intents that a batch up to `through` confirms by their position (F3).
    func accepted(upTo through: Position) -> [IntentNumber] {
        var numbers: [IntentNumber] = []
        for (position, waiting) in awaited {
            guard position <= through else { break }  // mutant: accepted-through
            numbers.append(contentsOf: waiting)
        }
        return numbers
    }

    /// Adds the intent at its number, or replaces it there once it is accepted.
    mutating func set(_ intent: UnsettledIntent) {
        let recorded = intent.recorded
        if byNumber[recorded.number] == nil {
            onceKeys.add(recorded.number, recorded.once)
            let terms = recorded.terms
            replacingKeys.add(recorded.number, terms.replacingKey)
            if terms.isHeld, intent.acceptance == nil { drafts[recorded.number] = .held }
            if let undone = terms.undoes {
                undoers[undone] = ((undoers[undone] ?? []) + [recorded.number]).sorted()
            }
        }
        byNumber[recorded.number] = intent
        guard let acceptance = intent.acceptance else { return }
        drafts[recorded.number] = nil
        acceptedCount += 1
        if let position = acceptance.position {
            var waiting = awaited[position] ?? []
            waiting.insert(recorded.number)
            awaited[position] = waiting
        }
    }

    /// Removes the intent, and returns it; nil if it was not here.
    mutating func remove(_ number: IntentNumber) -> UnsettledIntent? {
        guard let intent = byNumber[number] else { return nil }
        byNumber[number] = nil
        onceKeys.remove(number, intent.recorded.once)
        let terms = intent.recorded.terms
        replacingKeys.remove(number, terms.replacingKey)
        drafts[number] = nil
        if let undone = terms.undoes {
            let others = (undoers[undone] ?? []).filter { $0 != number }
            undoers[undone] = others.isEmpty ? nil : others
        }
        if let acceptance = intent.acceptance { removeAcceptance(acceptance, of: number) }
        return intent
    }

    private mutating func removeAcceptance(_ acceptance: Acceptance, of number: IntentNumber) {
        acceptedCount -= 1
        guard let position = acceptance.position else { return }
        var others = awaited[position] ?? []
        others.remove(number)
        awaited[position] = others.isEmpty ? nil : others
    }

    /// Notes that a draft was released by an entry.
    mutating func release(_ number: IntentNumber, at sequence: LogSequence) {
        drafts[number] = .released(sequence)
    }

    // MARK: The lean paths

    /// Adds a new intent that is not indexed at the end: ``set(_:)`` without a search.
    mutating func append(_ intent: UnsettledIntent) {
        let number = intent.recorded.number
        precondition(
            !intent.recorded.isIndexed && intent.acceptance == nil, "\(number) is not plain")
        byNumber.append(intent, at: number)
        if intent.recorded.terms.isHeld { drafts[number] = .held }
    }

    /// Removes the first intent, which is not indexed: ``remove(_:)`` without a search.
    mutating func removeFirst(_ recorded: RecordedIntent) {
        let number = recorded.number
        precondition(
            byNumber.first?.key == number, "intent \(number) is not the head of the overlay")
        precondition(!recorded.isIndexed, "\(number) is not plain")
        if let acceptance = byNumber.first?.value.acceptance {
            removeAcceptance(acceptance, of: number)
        }
        byNumber.removeFirst()
        if !drafts.isEmpty { drafts[number] = nil }
    }
}

/// The intents of the overlay that undo each intent.
package typealias Undoers = NumberMap<IntentNumber, [IntentNumber]>

/// The intents of the overlay that were recorded as drafts.
package typealias Drafts = NumberMap<IntentNumber, Draft>

extension Drafts {
    /// The drafts that were released.
    var onlyReleased: Drafts {
        var released = Drafts()
        for (number, draft) in self where draft != .held { released[number] = draft }
        return released
    }

    /// The numbers of the drafts that are held, ascending.
    package var held: [IntentNumber] { filter { $0.value == .held }.map(\.key) }
}

/// Whether a draft may be sent (F22).
package enum Draft: Equatable, Sendable {
    case held
    /// The entry that released it: from there on, it is in the order of sending.
    case released(LogSequence)
}

/// Intents of the overlay by a key, ascending.
private struct IntentKeys: Sendable {
    private var numbers: TreeDictionary<ExactString, [IntentNumber]> = [:]

    subscript(key: ExactString) -> [IntentNumber] { numbers[key] ?? [] }

    mutating func add(_ number: IntentNumber, _ key: ExactString?) {
        guard let key else { return }
        numbers[key] = (self[key] + [number]).sorted()
    }

    mutating func remove(_ number: IntentNumber, _ key: ExactString?) {
        guard let key else { return }
        let others = self[key].filter { $0 != number }
        numbers[key] = others.isEmpty ? nil : others
    }
}
