import Foldback
import FoldbackUI

/// An intent with a mark, computed from the log alone.
struct NaiveIntent<Event: Sendable> {
    let event: Event
    let context: EventContext
    let mark: IntentMark
    let isConfirmOnly: Bool

    /// Whether no view has its effect.
    var isHidden: Bool {
        switch mark.state {
        case .rejected, .conflicted: true
        case .accepted, .pending: isConfirmOnly
        }
    }
}

/// The intents of a log at one sequence, as its store tells them.
struct SeenIntents<Event: Sendable>: Sendable {
    let overlay: [OverlayIntent<Event>]
    let rejections: [IntentNumber]
    private let sequence: LogSequence
    private let conflicts: [IntentNumber: String]

    init<P: Projection>(_ snapshot: Snapshot<P>) where P.Event == Event {
        overlay = Array(snapshot.overlay)
        rejections = snapshot.rejections
        sequence = snapshot.sequence
        conflicts = Self.reasons(snapshot.conflicted) { snapshot.conflict(of: $0) }
    }

    init<P: StoredProjection>(_ reader: borrowing RowReader<P>) where P.Event == Event {
        overlay = Array(reader.overlay)
        rejections = reader.rejections
        sequence = reader.sequence
        var conflicts: [IntentNumber: String] = [:]
        for number in reader.conflicted { conflicts[number] = reader.conflict(of: number) }
        self.conflicts = conflicts
    }

    private static func reasons(
        _ conflicted: [IntentNumber], _ reason: (IntentNumber) -> String?
    ) -> [IntentNumber: String] {
        var reasons: [IntentNumber: String] = [:]
        for number in conflicted { reasons[number] = reason(number) }
        return reasons
    }

    /// The intents with marks, ascending.
    ///
    /// - Parameters:
    ///   - rejected: returns a rejected intent; nil if its event cannot be read.
    ///   - attempt: returns the latest attempt to send a pending intent.
    ///   - releases: the entries that released drafts.
    func marked(
        rejected: (IntentNumber) throws -> NaiveIntent<Event>?,
        attempt: (IntentNumber) -> Attempt?, releases: [IntentNumber: LogSequence]
    ) rethrows -> [NaiveIntent<Event>] {
        let unsettled = overlay.compactMap { intent -> NaiveIntent<Event>? in
            guard let event = intent.event else { return nil }
            let number = intent.number
            let attempt = intent.state == .pending ? attempt(number) : nil
            let state: MarkState =
                if let reason = conflicts[number] {
                    .conflicted(reason: reason)
                } else if intent.state == .accepted {
                    .accepted
                } else {
                    .pending
                }
            let isReleased = releases[number].map { $0 <= sequence } ?? false
            let mark = IntentMark(
                number: number, state: state, retries: intent.retries, undoes: intent.undoes,
                group: intent.group,
                isHeld: intent.isDraft && intent.state == .pending && !isReleased, attempt: attempt,
                actions: intent.state == .pending && attempt == nil ? [.withdraw] : [])
            return NaiveIntent(
                event: event, context: EventContext(.intent(intent.id)), mark: mark,
                isConfirmOnly: intent.isConfirmOnly)
        }
        return (unsettled + (try rejections.compactMap { try rejected($0) }))
            .sorted { $0.mark.number < $1.mark.number }
    }
}

extension Itemized {
    /// The statuses of all items with marks.
    static func naiveStatuses(of intents: [NaiveIntent<Event>]) -> [ItemID: ItemStatus] {
        var marks: [ItemID: [IntentMark]] = [:]
        for intent in intents {
            for item in items(of: intent.event, intent.context) {
                let mark = intent.mark
                marks[item.id, default: []].append(
                    IntentMark(
                        number: mark.number, facet: item.facet, state: mark.state,
                        retries: mark.retries, undoes: mark.undoes, group: mark.group,
                        isHeld: mark.isHeld, attempt: mark.attempt, actions: mark.actions))
            }
        }
        return marks.mapValues { ItemStatus(marks: $0) }
    }
}

// MARK: The present

extension Store {
    /// The intents with marks, ascending, computed from the log and what was seen of it.
    func naiveIntents(of seen: SeenIntents<P.Event>) throws -> [NaiveIntent<P.Event>] {
        var releases: [IntentNumber: LogSequence] = [:]
        for entry in try entries(from: 1, countMax: .max) {
            if case .changed(let number, .released) = entry.content {
                releases[number] = entry.sequence
            }
        }
        return try seen.marked(
            rejected: { number in
                let status = try intent(number)
                guard let event = status.event, let rejection = status.rejection else {
                    return nil
                }
                return NaiveIntent(
                    event, status.id, rejection, retries: status.retries, undoes: status.undoes,
                    status.isConfirmOnly)
            }, attempt: { attempt(of: $0) }, releases: releases)
    }
}

extension Store where P: Itemized {
    /// The statuses of all items, computed from the log and what was seen of it.
    func naiveStatuses(of seen: SeenIntents<P.Event>) throws -> [P.ItemID: ItemStatus] {
        P.naiveStatuses(of: try naiveIntents(of: seen))
    }
}

extension Store where P: Projection & Itemized {
    /// The statuses of all items, computed from the log alone.
    func naiveStatuses() throws -> [P.ItemID: ItemStatus] {
        try naiveStatuses(of: SeenIntents(snapshot))
    }
}

extension NaiveIntent {
    /// A rejected intent.
    init(
        _ event: Event, _ id: IntentID, _ rejection: Rejection, retries: IntentNumber?,
        undoes: IntentNumber?, _ isConfirmOnly: Bool
    ) {
        self.init(
            event: event, context: EventContext(.intent(id)),
            mark: IntentMark(
                number: id.number, state: .rejected(rejection), retries: retries, undoes: undoes,
                actions: [.retry, .dismiss]),
            isConfirmOnly: isConfirmOnly)
    }
}

// MARK: The past

/// An answer, as a naive reader computes it.
struct NaiveAnswer: Equatable {
    let intent: IntentNumber
    let content: Answer.Content
    let sequence: LogSequence
}

extension NaiveAnswer {
    init(_ answer: Answer) {
        self.init(intent: answer.intent, content: answer.content, sequence: answer.sequence)
    }
}

/// What the entries of a log say, computed from the first entry on.
struct NaiveLog<Event: Sendable> {
    /// All answers, in log order.
    private(set) var answers: [NaiveAnswer] = []
    private(set) var events: [IntentNumber: Event] = [:]
    private var rejected: [IntentNumber: NaiveIntent<Event>] = [:]
    private var releases: [IntentNumber: LogSequence] = [:]
    private var intents: [IntentNumber: Intent] = [:]
    private var through: Position = 0
    private let kind: LogKind

    private struct Intent {
        let id: IntentID
        let retries: IntentNumber?
        let undoes: IntentNumber?
        let isConfirmOnly: Bool
        var content: Answer.Content?
        var position: Position?

        var isSettled: Bool { content.map { $0.state.isSettled } ?? false }
    }

    init<P>(_ store: Store<P>, _ kind: LogKind) throws where P.Event == Event {
        self.kind = kind
        for entry in try store.entries(from: 1, countMax: .max) {
            let before = intents.mapValues(\.content)
            read(entry)
            for (number, intent) in intents.sorted(by: { $0.key < $1.key }) {
                guard let content = intent.content, content != before[number] else { continue }
                answers.append(
                    NaiveAnswer(intent: number, content: content, sequence: entry.sequence))
            }
        }
    }

    private mutating func read(_ entry: LogEntry<Event>) {
        switch entry.content {
        case .intent(let intent):
            intents[intent.number] = Intent(
                id: IntentID(replica: entry.replica, number: intent.number),
                retries: intent.retries, undoes: intent.undoes,
                isConfirmOnly: intent.isConfirmOnly)
            events[intent.number] = intent.event.event
            if let old = intent.replaces { intents[old]?.content = .withdrawn }
        case .acknowledged(let number, let position, _):
            let isCovered = position.map { $0 <= through } ?? false
            intents[number]?.position = position
            intents[number]?.content =
                kind == .acknowledgement || isCovered ? .confirmed : .accepted
        case .changed(let number, .rejected(let rejection)):
            intents[number]?.content = .rejected(rejection)
            guard let intent = intents[number], let event = events[number] else { return }
            rejected[number] = NaiveIntent(
                event, intent.id, rejection, retries: intent.retries, undoes: intent.undoes,
                intent.isConfirmOnly)
        case .changed(let number, .withdrawn), .changed(let number, .abandoned),
            .changed(let number, .undone), .changed(let number, .lapsed):
            intents[number]?.content = .withdrawn
        case .changed(let number, .restored): intents[number]?.content = nil
        case .changed(_, .dismissed): break
        case .changed(let number, .released): releases[number] = entry.sequence
        case .confirmed(let events, let through): confirm(events, through)
        }
    }

    private mutating func confirm(_ events: [BatchEvent<Event>], _ end: Position) {
        for event in events {
            guard let origin = event.origin, let intent = intents[origin.number],
                intent.id == origin, event.position > through || !intent.isSettled
            else { continue }
            intents[origin.number]?.content = .confirmed
        }
        through = max(through, end)
        for (number, intent) in intents where intent.content == .accepted {
            guard let position = intent.position, position <= through else { continue }
            intents[number]?.content = .confirmed
        }
    }

    /// The intents with marks at a past sequence, ascending.
    ///
    /// - Parameters:
    ///   - seen: what the store tells about that sequence.
    ///   - attempts: the attempts to assume, because the log does not have them.
    func intents(
        of seen: SeenIntents<Event>, _ attempts: [IntentNumber: Attempt] = [:]
    ) -> [NaiveIntent<Event>] {
        seen.marked(
            rejected: { rejected[$0] }, attempt: { attempts[$0] }, releases: releases)
    }
}

extension Sequence where Element == ItemStatus {
    /// The latest attempts that the marks have.
    var attempts: [IntentNumber: Attempt] {
        var attempts: [IntentNumber: Attempt] = [:]
        for mark in flatMap(\.marks) { attempts[mark.number] = mark.attempt }
        return attempts
    }
}
