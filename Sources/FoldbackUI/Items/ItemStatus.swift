import Foldback

/// The intents about one item of a view that are not settled, or that were rejected: what a row
/// shows beside its content.
///
/// ```swift
/// switch status.worst {
/// case nil: EmptyView()
/// case .accepted, .pending: Image(systemName: "clock")
/// case .conflicted(let reason): Text(reason)
/// case .rejected(let rejection): Text(rejection.message)
/// }
/// ```
public struct ItemStatus: Hashable, Sendable {
    /// The item's marks, by ascending number of their intents.
    public let marks: [IntentMark]

    /// - Parameter marks: in any order.
    public init(marks: [IntentMark]) { self.marks = marks.sorted { $0.number < $1.number } }

    /// The status of an item without marks.
    public static let settled = ItemStatus(marks: [])

    /// The most severe state of the marks; nil if there is none. Of equally severe states, that of
    /// the newest intent.
    public var worst: MarkState? {
        marks.map(\.state).reduce(nil) { worst, state in
            guard let worst, worst.severity > state.severity else { return state }
            return worst
        }
    }
}

/// An intent as it appears at an item.
public struct IntentMark: Hashable, Sendable {
    /// The intent's number. A retry has a new number.
    public let number: IntentNumber
    /// The part of the item that the intent is about; nil for the whole item.
    public let facet: Facet?
    public let state: MarkState
    /// The rejected intent that this intent retries; nil if none.
    public let retries: IntentNumber?
    /// The intent that this intent undoes, or whose undoing it undoes; nil if none (F21).
    public let undoes: IntentNumber?
    /// The first of the intents that were recorded together with it; nil if it was recorded alone
    /// (F20).
    public let group: IntentNumber?
    /// Whether the intent is a draft that is not sent before it is released (F22).
    public let isHeld: Bool
    /// The attempt to send the intent; nil if its sending was never begun, or if it was answered.
    public let attempt: Attempt?
    /// What a person can do about the intent now (U31).
    public let actions: Set<MarkAction>

    public init(
        number: IntentNumber, facet: Facet? = nil, state: MarkState, retries: IntentNumber? = nil,
        undoes: IntentNumber? = nil, group: IntentNumber? = nil, isHeld: Bool = false,
        attempt: Attempt? = nil, actions: Set<MarkAction> = []
    ) {
        self.number = number
        self.facet = facet
        self.state = state
        self.retries = retries
        self.undoes = undoes
        self.group = group
        self.isHeld = isHeld
        self.attempt = attempt
        self.actions = actions
    }
}

/// The state of an intent at an item, from the least to the most severe.
public enum MarkState: Hashable, Sendable {
    /// The server has accepted the intent, and the downlink has not delivered its effect yet.
    case accepted
    /// The intent has no answer yet.
    case pending
    /// The intent is pending or accepted, and is left out of the view because it does not apply to
    /// the present state (F9). If it is accepted, it has no actions.
    case conflicted(reason: String)
    /// Refused by the server, and no longer in the view.
    case rejected(Rejection)

    /// A higher number is more severe.
    var severity: Int {
        switch self {
        case .accepted: 0
        case .pending: 1
        case .conflicted: 2
        case .rejected: 3
        }
    }
}

/// What a person can do about an intent.
public enum MarkAction: Hashable, Sendable, CaseIterable {
    /// Records a rejected intent again.
    case retry
    /// Removes the mark of a rejected intent.
    case dismiss
    /// Takes back an intent that has not left the device.
    case withdraw
}

/// A part of an item, for items with parts that are shown separately, such as a post's text and its
/// likes.
public struct Facet: Hashable, Sendable, ExpressibleByStringLiteral {
    public let name: String

    public init(_ name: String) { self.name = name }
    public init(stringLiteral name: String) { self.name = name }
}
