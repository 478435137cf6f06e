import HashTreeCollections

/// Pending and accepted intents, in order of number.
package typealias Overlay = NumberMap<IntentNumber, UnsettledIntent>

/// The overlay of a ``LogState``, with its intents by once key and by the position that they await.
struct UnsettledIntents: Sendable {
    private(set) var byNumber = Overlay()
    /// The number of accepted intents.
    private(set) var acceptedCount = 0
    /// The numbers by once key, ascending. A key has more than one number only if the server
    /// accepted a rejected intent after its key had been used again (F7).
    private var onceKeys: TreeDictionary<ExactString, [IntentNumber]> = [:]
    /// Accepted intents by the position that will confirm them. Several can share a position.
    private var awaited = NumberMap<Position, TreeSet<IntentNumber>>()

    /// Returns the first intent with this once key (F14).
    func joined(by once: ExactString?) -> IntentNumber? {
        once.flatMap { onceKeys[$0]?.first }  // mutant: once-key
    }

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
        if byNumber[recorded.number] == nil, let once = recorded.once {
            let numbers = (onceKeys[once] ?? []) + [recorded.number]
            onceKeys[once] = numbers.sorted()
        }
        byNumber[recorded.number] = intent
        guard let acceptance = intent.acceptance else { return }
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
        if let once = intent.recorded.once {
            let others = (onceKeys[once] ?? []).filter { $0 != number }
            onceKeys[once] = others.isEmpty ? nil : others
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

    // MARK: The lean paths

    /// Adds a new intent without a once key at the end: ``set(_:)`` without a search.
    mutating func append(_ intent: UnsettledIntent) {
        let number = intent.recorded.number
        precondition(
            intent.recorded.once == nil && intent.acceptance == nil, "\(number) is not plain")
        byNumber.append(intent, at: number)
    }

    /// Removes the first intent, which has no once key: ``remove(_:)`` without a search.
    mutating func removeFirst(_ recorded: RecordedIntent) {
        let number = recorded.number
        precondition(
            byNumber.first?.key == number, "intent \(number) is not the head of the overlay")
        precondition(recorded.once == nil, "\(number) is not plain")
        if let acceptance = byNumber.first?.value.acceptance {
            removeAcceptance(acceptance, of: number)
        }
        byNumber.removeFirst()
    }
}
