/// The pending intents that cannot be sent yet, and that others with their keys wait for: drafts that
/// are held, what waits for a draft, and what undoes a pending intent (F21, F22).
///
/// An intent waits for the last blocked intent with each of its keys. That one waits for those before
/// it, so all of a key are sent in order. If it goes before it is sent, what waited for it is added
/// again.
struct BlockedIntents: Sendable {
    struct Blocked: Sendable {
        /// The pending intents that it waits for; none for a draft, which waits for its release.
        let waits: [IntentNumber]
        fileprivate let touch: IntentTouch
    }

    /// A key of one of the projections whose state is a value.
    private struct PlacedKey: Hashable, Sendable {
        let projection: Int
        let key: TouchedKey
    }

    private(set) var intents = NumberMap<IntentNumber, Blocked>()
    /// Their numbers by key, ascending.
    private var numbers: [PlacedKey: [IntentNumber]] = [:]

    /// Adds a pending intent if it is blocked.
    ///
    /// - Parameter undone: the pending intent that it undoes.
    /// - Returns: the blocked intents that it waits for, ascending.
    /// - Complexity: O(k) in the intent's keys. With stored projections, O(n) in blocked intents. O(1) if
    ///   nothing is blocked and no draft is in the overlay.
    mutating func add(
        _ intent: UnsettledIntent, _ draft: Draft?, _ undone: IntentNumber?,
        in published: PublishedState
    ) -> [IntentNumber] {
        let isQuiet = intents.isEmpty && published.drafts.isEmpty && undone == nil
        guard !isQuiet else { return [] }
        let touch = published.touch(of: intent)
        let number = intent.recorded.number
        let after = Set(
            lastByKey(touch, before: number) + byRows(touch, before: number)
                + releasedLater(than: intent.recorded, touch, in: published)
        ).sorted()
        guard draft == .held || !after.isEmpty || undone != nil else { return [] }
        intents[number] = Blocked(waits: after + (undone.map { [$0] } ?? []), touch: touch)
        for key in Self.keys(of: touch) {
            let isNewest = numbers[key]?.last.map { $0 < number } ?? true
            numbers[key, default: []].append(number)
            if !isNewest { numbers[key]?.sort() }
        }
        return after
    }

    mutating func remove(_ number: IntentNumber) {
        guard let blocked = intents[number] else { return }
        intents[number] = nil
        for key in Self.keys(of: blocked.touch) {
            let others = (numbers[key] ?? []).filter { $0 != number }
            numbers[key] = others.isEmpty ? nil : others
        }
    }

    // MARK: What an intent waits for

    private static func keys(of touch: IntentTouch) -> [PlacedKey] {
        touch.keys.enumerated().flatMap { projection, keys in
            (keys ?? []).map { PlacedKey(projection: projection, key: $0) }
        }
    }

    private func lastByKey(_ touch: IntentTouch, before number: IntentNumber) -> [IntentNumber] {
        guard !numbers.isEmpty else { return [] }
        return Self.keys(of: touch).compactMap { numbers[$0]?.last { $0 < number } }
    }

    /// Several intents that read a row do not wait for each other, so all of them count.
    private func byRows(_ touch: IntentTouch, before number: IntentNumber) -> [IntentNumber] {
        guard !touch.rows.isEmpty else { return [] }
        let rows = IntentTouch(keys: [], rows: touch.rows)
        return intents.filter { $0.key < number && $0.value.touch.overlaps(rows) }.map(\.key)
    }

    /// A draft that was released after the intent is sent before it all the same.
    private func releasedLater(
        than recorded: RecordedIntent, _ touch: IntentTouch, in published: PublishedState
    ) -> [IntentNumber] {
        published.drafts.compactMap { number, draft in
            guard number < recorded.number, case .released(let release) = draft,
                release > recorded.sequence, let other = published.overlay[number],
                published.touch(of: other).overlaps(touch)
            else { return nil }
            return number
        }
    }
}
