import Foldback

/// The marks of all items of a view at one moment, and the changes since the changes were last
/// taken (U31).
///
/// A value. To set an intent takes constant time for each of its items, and the changes O(n log n)
/// in the marks of the items that were touched. Dictionaries, because the compiler specializes them
/// for this module, but not maps of Foldback.
struct StatusTable: Sendable {
    /// An intent that has marks, and the items that it is about.
    struct MarkedIntent: Sendable {
        /// Has no facet. An item's mark has the facet with which the event names the item.
        let mark: IntentMark
        let items: [ItemReference<AnyItemID>]
        /// Nil if the view has the intent's effect.
        let hidden: HiddenMark?
    }

    private var intents: [IntentNumber: MarkedIntent] = [:]
    /// The marks of each item, by intent. An intent can be about several parts of an item.
    private var marks: [AnyItemID: [IntentNumber: [IntentMark]]] = [:]
    private var rejected = NumberMap<IntentNumber, IntentMark>()
    private var touched: Set<AnyItemID> = []
    /// The intents whose effects the view lacks (U32).
    private(set) var hidden = NumberMap<IntentNumber, HiddenMark>()

    /// Whether no item has a mark.
    var isEmpty: Bool { marks.isEmpty }

    /// Returns the status of an item. O(n log n) in its marks.
    func status(of id: AnyItemID) -> ItemStatus {
        marks[id].map { ItemStatus(marks: $0.values.flatMap(\.self)) } ?? .settled
    }

    /// The marks of the rejected intents, ascending. O(n) in them.
    var rejections: [IntentMark] { rejected.values }

    /// Returns the items of an intent that has marks; nil if it has none.
    func items(of number: IntentNumber) -> [ItemReference<AnyItemID>]? { intents[number]?.items }

    /// Replaces the marks of an intent.
    ///
    /// - Parameter intent: nil removes them.
    mutating func set(_ intent: MarkedIntent?, for number: IntentNumber) {
        for item in intents[number]?.items ?? [] {
            marks[item.id]?[number] = nil
            if marks[item.id]?.isEmpty == true { marks[item.id] = nil }
            touched.insert(item.id)
        }
        intents[number] = intent
        hidden[number] = intent?.hidden
        for item in intent?.items ?? [] {
            guard let mark = intent?.mark else { continue }
            marks[item.id, default: [:]][number, default: []].append(mark.about(item.facet))
            touched.insert(item.id)
        }
        if case .rejected = intent?.mark.state {
            rejected[number] = intent?.mark
        } else {
            rejected[number] = nil
        }
    }

    /// Returns the statuses of the items that were touched since the last call.
    mutating func takeChanges() -> [AnyItemID: ItemStatus] {
        defer { touched.removeAll() }
        return Dictionary(
            uniqueKeysWithValues: touched.map { ($0, status(of: $0)) })
    }
}

extension IntentMark {
    /// The mark as it appears at a part of an item.
    fileprivate func about(_ facet: Facet?) -> IntentMark {
        IntentMark(
            number: number, facet: facet, state: state, retries: retries, undoes: undoes,
            group: group, isHeld: isHeld, attempt: attempt, actions: actions)
    }

    /// The mark of an intent of the overlay.
    ///
    /// - Parameters:
    ///   - conflict: why the intent does not apply; nil if it applies (F9).
    ///   - isHeld: whether it is a draft that is not released (F22).
    ///   - attempt: nil if the intent has not left the device, so that it can be withdrawn (F7).
    init(_ intent: UnsettledIntent, conflict: String?, isHeld: Bool, attempt: Attempt?) {
        let isPending = intent.state == .pending
        self.init(
            number: intent.recorded.number,
            state: conflict.map { .conflicted(reason: $0) } ?? (isPending ? .pending : .accepted),
            retries: intent.recorded.retries, undoes: intent.recorded.terms.undoes,
            group: intent.recorded.terms.group, isHeld: isHeld, attempt: attempt,
            actions: isPending && attempt == nil ? [.withdraw] : [])  // mutant: mark-actions
    }

    /// The mark of a rejected intent.
    init(_ recorded: RecordedIntent, _ rejection: Rejection) {
        self.init(
            number: recorded.number, state: .rejected(rejection), retries: recorded.retries,
            undoes: recorded.terms.undoes, group: recorded.terms.group, actions: [.retry, .dismiss])
    }
}
