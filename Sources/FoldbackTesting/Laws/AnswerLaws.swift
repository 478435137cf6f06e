import Foldback

/// The laws that compare two scripts with the same end.
extension Trial {
    /// P4: for each intent that is pending at the end.
    func rejectedEqualsAbsent() async throws -> Violation? {
        let plain = script.withoutReversals
        return try await Trial(of: plain, Self.modelSteps(of: plain)).plainRejectedEqualsAbsent()
    }

    private func plainRejectedEqualsAbsent() async throws -> Violation? {
        guard let last = modelSteps.last else { return nil }
        let pending = pendingAtTheEnd(last.state)
        guard !pending.isEmpty else { return nil }
        // The oldest is rejected in a log that stayed open, because everything after it is folded
        // again. The others are rejected in copies.
        var log = try LogUnderTest<P>(script.kind)
        for step in script.steps { _ = try await log.perform(step) }
        let committed = log.committed
        for (place, number) in pending {
            let store =
                place == pending[0].place
                ? log.store : try LogUnderTest<P>.store(on: committed)
            try await store.reject(number, message: "not today")
            var absent = try LogUnderTest<P>(script.kind)
            for step in scriptWithout(place).steps { _ = try await absent.perform(step) }
            let found = Observation(of: store)
            let expected = Observation(of: absent.store)
            guard let difference = found.difference(from: expected, [.view, .confirmed]) else {
                continue
            }
            return Violation(
                .p4, difference, "Intent \(number) is rejected at the end. Then",
                expected: "a log in which intent \(number) was never folded",
                found: "the log with the rejection")
        }
        return nil
    }

    /// Intents that a rejection takes out of the view, by the places of the steps that recorded
    /// them.
    private func pendingAtTheEnd(
        _ state: ReferenceLog<P>.State
    ) -> [(place: IntentNumber, number: IntentNumber)] {
        var places: [(IntentNumber, IntentNumber)] = []
        var place: IntentNumber = 0
        for (step, modelStep) in zip(script.steps, modelSteps) where step.isRecording {
            place = place.advanced(by: step.placeCount)
            guard case .recorded(let number) = modelStep.result,
                let intent = state.intents[number], intent.state == .pending,
                !intent.terms.confirmOnly
            else { continue }
            places.append((place, number))
        }
        return places
    }

    /// The script with one intent recorded confirm-only, so it has its number and is not folded.
    ///
    /// Every other recording is forced or left out, so that its result stays the same: it may have
    /// depended on that intent.
    private func scriptWithout(_ absent: IntentNumber) -> Script<P.Event> {
        var place: IntentNumber = 0
        var steps: [Step] = []
        for (index, step) in script.steps.enumerated() {
            place = place.advanced(by: step.placeCount)
            steps += without(absent, index, step, at: place)
        }
        return Script(script.kind, steps)
    }

    /// The step as ``scriptWithout(_:)`` has it.
    private func without(
        _ absent: IntentNumber, _ index: Int, _ step: Step, at place: IntentNumber
    ) -> [Step] {
        guard step.isRecording else { return [step] }
        let intent: ReferenceLog<P>.Intent?
        switch modelSteps[index].result {
        case .recorded(let number)?: intent = modelSteps[index].state.intents[number]
        case .recordedAll?:
            guard case .together(let events, _, let once, let held) = step else { return [step] }
            return [.together(events, force: true, once: once, held: held)]
        // Takes the places and records nothing.
        case .refused?: return Array(repeating: .retry(0), count: step.placeCount)
        default: return [step]
        }
        switch step {
        case .record(let event, _, let confirmOnly, let once, let key, let held):
            return [
                .record(
                    event, force: true, confirmOnly: confirmOnly || place == absent, once: once,
                    replacing: key, held: held)
            ]
        case .together(let events, _, let once, let held):
            return [
                .record(
                    events[0], force: true, confirmOnly: place == absent, once: once, held: held)
            ]
        case .change where place == absent, .edit where place == absent:
            guard let intent else { return [step] }
            return [
                .record(intent.event, force: true, confirmOnly: true, once: intent.terms.once)
            ]
        case .change(let old, let command, _): return [.change(old, command, force: true)]
        case .edit(let old, let event, _): return [.edit(old, event, force: true)]
        case .acknowledge, .reject, .confirm, .attempt, .checkpoint, .reopen, .kill: return [step]
        }
    }

    /// P5: the server's events, sent to a log that recorded none of the intents.
    func confirmedEqualsServersEvents() async throws -> Violation? {
        guard let last = logSteps.last else { return nil }
        let other = try LogUnderTest<P>(.downlink, replica: .foreign)
        for (events, through) in serverBatches() {
            _ = try await other.store.confirm(events, through: through)
        }
        let expected = Observation(of: other.store)
        guard let difference = last.observation.difference(from: expected, [.confirmed]) else {
            return nil
        }
        return Violation(
            .p5, difference, "At the end", expected: "the server's events, without any intent",
            found: "the log")
    }

    /// Everything that the server confirmed, as batches. In an acknowledgement log each
    /// acknowledgement is a batch of one event (F4).
    private func serverBatches() -> [(events: [ConfirmedEvent<P.Event>], through: Position?)] {
        var batches: [([ConfirmedEvent<P.Event>], Position?)] = []
        for modelStep in modelSteps where modelStep.result == .appended {
            switch modelStep.command {
            case .confirm(let events, let through): batches.append((events, through))
            case .acknowledge(let number, _, let replacement) where script.kind == .acknowledgement:
                let event = replacement ?? modelStep.state.intents[number]?.event
                guard let event else { continue }
                let id = IntentID(replica: .own, number: number)
                let position = Position(UInt64(batches.count + 1))
                batches.append(
                    ([ConfirmedEvent(position: position, event: event, origin: id)], nil))
            case .acknowledge, .record, .together, .change, .retry, .reject, .attempt, nil:
                continue
            }
        }
        return batches
    }

    /// P7: repeats every answer and batch at once, all of them at the end, and each batch together
    /// with all earlier events. It leaves out events that would confirm an intent only now (F6).
    func duplicatesChangeNothing() async throws -> Violation? {
        var log = try LogUnderTest<P>(script.kind)
        for (index, step) in script.steps.enumerated() {
            let first = try await log.perform(step)
            guard step.isAnswer, first != nil else { continue }
            let again = try await log.perform(step)
            let found = try Observation(allOf: log.store)
            let repeated = "\(named(index)) came twice."
            if let violation = duplicate(
                first, again, found, logSteps[index].observation, repeated)
            {
                return violation
            }
        }
        guard let last = logSteps.last?.observation else { return nil }
        for (index, step) in script.steps.enumerated()
        where step.isAnswer && logSteps[index].result != nil {
            if case .confirm(let events, _) = step, events.contains(where: log.isUnsettled) {
                continue
            }
            // The intent had another state then: it had lapsed, and is back (F21).
            if case .ignored? = logSteps[index].result, log.isPending(step) { continue }
            let again = try await log.perform(step)
            let found = try Observation(allOf: log.store)
            let repeated = "\(named(index)) came once more at the end."
            if let violation = duplicate(logSteps[index].result, again, found, last, repeated) {
                return violation
            }
        }
        return try await overlappingBatches()
    }

    private func overlappingBatches() async throws -> Violation? {
        let batches = zip(script.steps, logSteps).filter { step, logStep in
            if case .confirm = step { logStep.result == .appended } else { false }
        }
        guard batches.count > 1 else { return nil }
        var log = try LogUnderTest<P>(script.kind)
        var before: [Script<P.Event>.ServerEvent] = []
        var hasLonger = false
        for (index, step) in script.steps.enumerated() {
            var step = step
            var isLonger = false
            if case .confirm(let events, let through) = step, logSteps[index].result == .appended {
                let all = before.filter { !log.isUnsettled($0) } + events
                isLonger = all.count > events.count
                // A batch covers its highest position (F5), also where this step names a lower one.
                let highest = all.map(\.position).max()
                step = .confirm(all, through: through.map { max($0, highest ?? $0) })
                before += events
            }
            _ = try await log.perform(step)
            hasLonger = hasLonger || isLonger
            // The end shows a difference that only a later step brings out.
            guard isLonger || hasLonger && index == script.steps.count - 1 else { continue }
            let found = try Observation(allOf: log.store)
            guard let difference = found.difference(from: logSteps[index].observation) else {
                continue
            }
            return Violation(
                .p7, difference,
                isLonger
                    ? "\(named(index)) came together with all earlier events. Then"
                    : "A batch came together with all earlier events. After \(named(index))",
                expected: "the batch alone", found: "the batch with the earlier events")
        }
        return nil
    }

    private func duplicate(
        _ first: CommandResult?, _ again: CommandResult?, _ found: Observation<P>,
        _ expected: Observation<P>, _ repeated: String
    ) -> Violation? {
        if first == .appended, again == .appended {
            return Violation(.p7, "appended", "\(repeated) The second time was recorded as well.")
        }
        return found.difference(from: expected).map { difference in
            Violation(
                .p7, difference, "\(repeated) Then", expected: "after it came once",
                found: "after it came twice")
        }
    }

    /// P8: all intents of the script, answered in several orders, end in the server's order.
    func anyOrderOfAnswers() async throws -> Violation? {
        let events = script.recordedEvents
        guard !events.isEmpty else { return nil }
        // The first order is tried in a log that stayed open, the others in copies.
        let log = try LogUnderTest<P>(script.kind)
        for event in events { _ = try await log.store.record(event, force: true) }
        let committed = log.committed
        for (index, schedule) in schedules(serversOrder(of: events.count)).enumerated() {
            let store = index == 0 ? log.store : try LogUnderTest<P>.store(on: committed)
            try await settle(events, by: schedule.messages, in: store)
            let found = Observation(of: store)
            let expected = plainFold(events, in: schedule.end)
            let statement = "All \(events.count) intents are answered \(schedule.name)."
            if !found.pending.isEmpty || !found.accepted.isEmpty {
                return Violation(.p8, "unsettled", "\(statement) Not all of them are settled.")
            }
            let end = found.with(view: expected, confirmed: expected)
            guard let difference = found.difference(from: end, [.confirmed, .view]) else {
                continue
            }
            return Violation(
                .p8, difference, "\(statement) Then",
                expected: "a fold of the events in the order in which they are confirmed",
                found: "the log")
        }
        return nil
    }

    /// A message of the server about the intent at a place.
    enum Message: Equatable, Sendable {
        case answer(Int)
        /// The intent's event, by the downlink.
        case event(Int)
    }

    /// Orders of messages, and the order in which each of them confirms.
    ///
    /// In an acknowledgement log the answers confirm, in their order. In a downlink log the events
    /// confirm in the server's order, wherever the answers come between them.
    func schedules(_ server: [Int]) -> [(name: String, messages: [Message], end: [Int])] {
        func listed(_ order: [Int]) -> String { order.map(String.init).joined(separator: ", ") }
        let orders = [server, server.sorted(), server.reversed()]
        guard script.kind == .downlink else {
            return orders.map { ("in the order \(listed($0))", $0.map(Message.answer), $0) }
        }
        let events = server.map(Message.event)
        return orders.dropFirst().flatMap { order in
            let answers = order.map(Message.answer)
            return [
                ("before", answers + events), ("after", events + answers),
                ("between", zip(answers, events).flatMap { [$0, $1] }),
            ].map { place, messages in
                let name = "in the order \(listed(order)), \(place) their events, \(listed(server))"
                return (name, messages, server)
            }
        }
    }

    /// Places of intents, in the order in which the script's steps name them; the others follow.
    func serversOrder(of count: Int) -> [Int] {
        var order: [Int] = []
        func add(_ place: IntentNumber) {
            // Numbers of unknown intents, and place 0, name none.
            guard place >= 1, place.value <= UInt64(count) else { return }
            let place = Int(place.value)
            if !order.contains(place) { order.append(place) }
        }
        for step in script.steps {
            switch step {
            case .acknowledge(let place, _, _), .reject(let place, _, _), .change(let place, _, _),
                .edit(let place, _, _):
                add(place)
            case .confirm(let events, _):
                for case .own(let place) in events.map(\.origin) { add(place) }
            case .record, .together, .attempt, .checkpoint, .reopen, .kill: break
            }
        }
        return order + (0..<count).reversed().map { $0 + 1 }.filter { !order.contains($0) }
    }

    func plainFold(_ events: [P.Event], in order: [Int]) -> P {
        var state = P()
        for place in order {
            let before = state
            let context = ReferenceLog<P>.context(of: IntentNumber(UInt64(place)))
            do { try state.apply(events[place - 1], context) } catch { state = before }
        }
        return state
    }

    private func settle(
        _ events: [P.Event], by messages: [Message], in store: Store<P>
    ) async throws {
        var positions: [Int: Position] = [:]
        for case .event(let place) in messages {
            positions[place] = Position(UInt64(positions.count + 1))
        }
        for message in messages {
            switch message {
            case .answer(let place):
                try await store.acknowledge(
                    IntentNumber(UInt64(place)), position: positions[place])
            case .event(let place):
                let id = IntentID(replica: .own, number: IntentNumber(UInt64(place)))
                let event = ConfirmedEvent(
                    position: positions[place] ?? 0, event: events[place - 1], origin: id)
                try await store.confirm([event])
            }
        }
    }
}

extension Script {
    /// The script without what one intent does to another: undo, redo, and replacing. Places stay.
    fileprivate var withoutReversals: Script {
        var script = self
        for (index, step) in steps.enumerated() {
            switch step {
            case .record(let event, let force, let confirmOnly, let once, _?, let held):
                script.steps[index] = .record(
                    event, force: force, confirmOnly: confirmOnly, once: once, held: held)
            case .change(_, .undo, _), .change(_, .redo, _), .change(_, .retryAll, _):
                script.steps[index] = .retry(0)
            default: break
            }
        }
        return script
    }
}

extension LogUnderTest {
    /// Whether an answer is about an intent that is pending now.
    fileprivate func isPending(_ answer: Script<P.Event>.Step) -> Bool {
        switch answer {
        case .acknowledge(let place, _, _), .reject(let place, _, _):
            numbers[place].map(store.snapshot.pending.contains) ?? false
        default: false
        }
    }

    /// Whether an event names an intent in the overlay, so that repeating it would confirm the
    /// intent (F6).
    ///
    /// The event did not confirm the intent when it first came, because the intent was rejected or
    /// withdrawn and the position was covered. Since then the server has changed its mind.
    fileprivate func isUnsettled(_ event: Script<P.Event>.ServerEvent) -> Bool {
        guard case .own(let place) = event.origin, let number = numbers[place] else {
            return false
        }
        let snapshot = store.snapshot
        return snapshot.pending.contains(number) || snapshot.accepted.contains(number)
    }
}
