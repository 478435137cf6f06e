import Foldback

/// What the log must show: a naive fold of what the server has accepted, and of what is pending.
struct Expected {
    private(set) var confirmed = NaiveShelf()
    /// The state of each intent that was ever recorded, by its number less one.
    private(set) var states: [IntentState] = []
    /// The pending and accepted intents in number order.
    private(set) var overlay: [(number: IntentNumber, event: ShelfEvent)] = []
    /// The listed rejections, and the days on which they came.
    private(set) var rejections: [IntentNumber: (event: ShelfEvent, day: Int)] = [:]

    var view: NaiveShelf {
        var view = confirmed
        for intent in overlay { view.take(intent.event) }
        return view
    }

    func state(of number: IntentNumber) -> IntentState { states[Int(number.value) - 1] }

    func numbers(in state: IntentState) -> [IntentNumber] {
        overlay.map(\.number).filter { self.state(of: $0) == state }
    }

    // MARK: What happens

    mutating func record(_ number: IntentNumber, _ event: ShelfEvent) throws {
        guard number.value == UInt64(states.count) + 1 else {
            throw Finding("an intent got the number \(number) after \(states.count) intents")
        }
        states.append(.pending)
        overlay.append((number, event))
    }

    mutating func withdraw(_ number: IntentNumber) { settle(number, .withdrawn) }

    mutating func reject(_ number: IntentNumber, day: Int) throws {
        guard let intent = overlay.first(where: { $0.number == number }) else {
            throw Finding("the model has no intent \(number) to reject")
        }
        rejections[number] = (intent.event, day)
        settle(number, .rejected)
    }

    /// Removes a rejection from the list, because it was dismissed or retried.
    mutating func unlist(_ number: IntentNumber) { rejections[number] = nil }

    /// Accepts an intent that is pending, or that was rejected and comes back (F7).
    mutating func accept(_ number: IntentNumber) {
        if let rejection = rejections.removeValue(forKey: number) {
            let place = overlay.firstIndex { $0.number > number } ?? overlay.endIndex
            overlay.insert((number, rejection.event), at: place)
        }
        states[Int(number.value) - 1] = .accepted
    }

    mutating func confirm(_ event: ShelfEvent, of number: IntentNumber?) throws {
        guard confirmed.take(event) else {
            throw Finding("the server has accepted an event that does not apply: \(event)")
        }
        if let number { settle(number, .confirmed) }
    }

    private mutating func settle(_ number: IntentNumber, _ state: IntentState) {
        states[Int(number.value) - 1] = state
        overlay.removeAll { $0.number == number }
    }
}

/// The log does not do what it must. The text says what differs.
struct Finding: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
