import Foldback

/// The laws that compare two histories which should end alike.
extension Trial {
    /// P4: for each intent that is pending at the end.
    func rejectedEqualsAbsent() async throws -> Violation? {
        guard let last = refolded.last else { return nil }
        for (place, number) in pendingAtTheEnd(last.state) {
            var subject = try LogUnderTest<P>(history.kind)
            for step in history.steps { _ = try await subject.perform(step) }
            _ = try await subject.perform(.reject(place, message: "not today"))
            var absent = try LogUnderTest<P>(history.kind)
            for step in historyWithout(place).steps { _ = try await absent.perform(step) }
            let found = Observation(of: subject.store)
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

    /// Intents that a rejection would take out of the view, by the places of the steps that recorded
    /// them.
    private func pendingAtTheEnd(
        _ state: ReferenceLog<P>.State
    ) -> [(place: IntentNumber, number: IntentNumber)] {
        var places: [(IntentNumber, IntentNumber)] = []
        var place: IntentNumber = 0
        for (step, refolded) in zip(history.steps, refolded) where step.isRecording {
            place = IntentNumber(place.value + 1)
            guard case .recorded(let number) = refolded.outcome,
                let intent = state.intents[number], intent.state == .pending,
                !intent.confirmOnly
            else { continue }
            places.append((place, number))
        }
        return places
    }

    /// The same with one intent recorded confirm-only, so that it has its number and is folded nowhere.
    /// The others are recorded, or are not, as they were: that one may have had a say in it.
    private func historyWithout(_ absent: IntentNumber) -> Script<P.Event> {
        var place: IntentNumber = 0
        var history = history
        for (index, step) in history.steps.enumerated() where step.isRecording {
            place = IntentNumber(place.value + 1)
            guard case .recorded(let number)? = refolded[index].outcome,
                let intent = refolded[index].state.intents[number]
            else {
                if case .refused? = refolded[index].outcome { history.steps[index] = .retry(0) }
                continue
            }
            switch step {
            case .record(let event, _, let confirmOnly, let once):
                history.steps[index] = .record(
                    event, force: true, confirmOnly: confirmOnly || place == absent, once: once)
            case .change where place == absent:
                history.steps[index] = .record(
                    intent.event, force: true, confirmOnly: true, once: intent.once)
            case .change(let old, let command, _):
                history.steps[index] = .change(old, command, force: true)
            case .acknowledge, .reject, .confirm, .checkpoint, .reopen, .kill: break
            }
        }
        return history
    }

    /// P5: the server's events, told to a log that recorded none of the intents.
    func confirmedEqualsServersEvents() async throws -> Violation? {
        guard let last = passages.last else { return nil }
        let told = try LogUnderTest<P>(.downlink, replica: .foreign)
        for (events, through) in serversWords() {
            _ = try await told.store.confirm(events, through: through)
        }
        let expected = Observation(of: told.store)
        guard let difference = last.sight.difference(from: expected, [.confirmed]) else {
            return nil
        }
        return Violation(
            .p5, difference, "At the end", expected: "the server's events, without any intent",
            found: "the log")
    }

    /// What the server said, as batches; its acknowledgements are such where they confirm (F4).
    private func serversWords() -> [(events: [ConfirmedEvent<P.Event>], through: Position?)] {
        var words: [([ConfirmedEvent<P.Event>], Position?)] = []
        for refolded in refolded where refolded.outcome == .appended {
            switch refolded.command {
            case .confirm(let events, let through): words.append((events, through))
            case .acknowledge(let number, _, let replacement) where history.kind == .acknowledgement:
                let event = replacement ?? refolded.state.intents[number]?.event
                guard let event else { continue }
                let id = IntentID(replica: .own, number: number)
                let position = Position(UInt64(words.count + 1))
                words.append(([ConfirmedEvent(position: position, event: event, origin: id)], nil))
            case .acknowledge, .record, .change, .reject, nil: continue
            }
        }
        return words
    }

    /// P7: every answer and batch at once again, all of them once more at the end, and each batch with
    /// everything that had come before it; but for what confirms only now (F6).
    func duplicatesChangeNothing() async throws -> Violation? {
        var subject = try LogUnderTest<P>(history.kind)
        for (index, step) in history.steps.enumerated() {
            let first = try await subject.perform(step)
            guard step.isAnswer, first != nil else { continue }
            let again = try await subject.perform(step)
            let sight = try Observation(allOf: subject.store)
            let what = "\(named(index)) came twice."
            if let violation = duplicate(first, again, sight, passages[index].sight, what) {
                return violation
            }
        }
        guard let last = passages.last?.sight else { return nil }
        for (index, step) in history.steps.enumerated()
        where step.isAnswer && passages[index].outcome != nil {
            if case .confirm(let told, _) = step, told.contains(where: subject.isUnsettled) {
                continue
            }
            let again = try await subject.perform(step)
            let sight = try Observation(allOf: subject.store)
            let what = "\(named(index)) came once more at the end."
            if let violation = duplicate(passages[index].outcome, again, sight, last, what) {
                return violation
            }
        }
        return try await overlappingBatches()
    }

    private func overlappingBatches() async throws -> Violation? {
        var subject = try LogUnderTest<P>(history.kind)
        var before: [Script<P.Event>.ServerEvent] = []
        for (index, step) in history.steps.enumerated() {
            var step = step
            if case .confirm(let told, let through) = step, passages[index].outcome == .appended {
                step = .confirm(before.filter { !subject.isUnsettled($0) } + told, through: through)
                before += told
            }
            _ = try await subject.perform(step)
            let sight = try Observation(allOf: subject.store)
            guard let difference = sight.difference(from: passages[index].sight) else { continue }
            return Violation(
                .p7, difference,
                "\(named(index)) came together with everything that had come before. Then",
                expected: "coming alone", found: "coming with what had come")
        }
        return nil
    }

    private func duplicate(
        _ first: CommandResult?, _ again: CommandResult?, _ found: Observation<P>,
        _ expected: Observation<P>,
        _ what: String
    ) -> Violation? {
        if first == .appended, again == .appended {
            return Violation(.p7, "appended", "\(what) The second time was recorded as well.")
        }
        return found.difference(from: expected).map { difference in
            Violation(
                .p7, difference, "\(what) Then", expected: "having come once",
                found: "having come twice")
        }
    }

    /// P8: all intents of the history, answered in several orders, end in the server's.
    func anyOrderOfAnswers() async throws -> Violation? {
        let events = history.recordedEvents
        guard !events.isEmpty else { return nil }
        for schedule in schedules(serversOrder(of: events.count)) {
            let sight = Observation(of: try await settled(events, by: schedule.words))
            let expected = plainFold(events, in: schedule.end)
            let statement = "All \(events.count) intents are answered \(schedule.name)."
            if !sight.pending.isEmpty || !sight.accepted.isEmpty {
                return Violation(.p8, "unsettled", "\(statement) Not all of them are settled.")
            }
            let end = sight.with(view: expected, confirmed: expected)
            guard let difference = sight.difference(from: end, [.confirmed, .view]) else {
                continue
            }
            return Violation(
                .p8, difference, "\(statement) Then",
                expected: "folding the events in the order that they are confirmed in",
                found: "the log")
        }
        return nil
    }

    /// One thing that the server says of the intent at a place.
    enum Word: Equatable, Sendable {
        case answer(Int)
        /// Its event, which comes by the downlink.
        case event(Int)
    }

    /// What the server says, in which order, and the order in which that confirms. Answers confirm where
    /// there is no downlink; where there is one its events do, wherever the answers come between them.
    func schedules(_ server: [Int]) -> [(name: String, words: [Word], end: [Int])] {
        func listed(_ order: [Int]) -> String { order.map(String.init).joined(separator: ", ") }
        let orders = [server, server.sorted(), server.reversed()]
        guard history.kind == .downlink else {
            return orders.map { ("in the order \(listed($0))", $0.map(Word.answer), $0) }
        }
        let events = server.map(Word.event)
        return orders.dropFirst().flatMap { order in
            let answers = order.map(Word.answer)
            return [
                ("before", answers + events), ("behind", events + answers),
                ("between", zip(answers, events).flatMap { [$0, $1] }),
            ].map { place, words in
                let name = "in the order \(listed(order)), \(place) their events, \(listed(server))"
                return (name, words, server)
            }
        }
    }

    /// Places of intents in an order that the history's answers suggest.
    func serversOrder(of count: Int) -> [Int] {
        var order: [Int] = []
        func add(_ place: IntentNumber) {
            // Numbers of unknown intents, and place 0, name none.
            guard place >= 1, place.value <= UInt64(count) else { return }
            let place = Int(place.value)
            if !order.contains(place) { order.append(place) }
        }
        for step in history.steps {
            switch step {
            case .acknowledge(let place, _, _), .reject(let place, _, _), .change(let place, _, _):
                add(place)
            case .confirm(let told, _):
                for case .own(let place) in told.map(\.origin) { add(place) }
            case .record, .checkpoint, .reopen, .kill: break
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

    private func settled(_ events: [P.Event], by words: [Word]) async throws -> Store<P> {
        let store = try LogUnderTest<P>(history.kind).store
        for event in events { _ = try await store.record(event, force: true) }
        var positions: [Int: Position] = [:]
        for case .event(let place) in words {
            positions[place] = Position(UInt64(positions.count + 1))
        }
        for word in words {
            switch word {
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
        return store
    }
}

extension LogUnderTest {
    /// Whether an event that came before names an intent in the overlay. It did not confirm it when it
    /// came, for the intent was rejected or withdrawn and the position covered; the server has changed
    /// its mind since, and coming again it would (F6).
    fileprivate func isUnsettled(_ told: Script<P.Event>.ServerEvent) -> Bool {
        guard case .own(let place) = told.origin, let number = numbers[place] else { return false }
        let snapshot = store.snapshot
        return snapshot.pending.contains(number) || snapshot.accepted.contains(number)
    }
}
