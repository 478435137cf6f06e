import Foldback

/// One day: the app starts, the user works, the device sends and fetches, and the app ends.
extension Life {
    mutating func liveDay() async throws {
        let store = try await open()
        if day.isMultiple(of: 7) { try compare(store, "after the start of the app") }
        try await handleRejections(store)
        let perRound = intentsOfDay / Self.roundsOfDay
        for round in 0..<Self.roundsOfDay {
            time.advance(hours: 2)
            switch round {
            case 0: try await recordSpecially(store)
            case 4: try await endDrafts(store)
            default: break
            }
            try await record(store, count: perRound)
            try await withdrawSome(store)
            workElsewhere()
            // Sometimes the device is offline.
            if random.chance(0.9) { try await send(store) }
            if random.chance(0.8) { try await fetch(store) }
        }
        try await send(store)
        try await fetch(store)
        try compare(store, "in the evening")
        try await store.checkpoint()
        if isBackupDay { try await backUp(store) }
        if (day + 1).isMultiple(of: Self.daysOfQuarter) { try await askForOldIntents(store) }
        await store.close()
        time.advance(hours: 24 - 2 * Int64(Self.roundsOfDay))
    }

    // MARK: The user

    private mutating func record(_ store: Store<Shelf>, count: Int) async throws {
        var left = count
        while left > 0 {
            let size = min(left, random.number(in: 1...10))
            left -= size
            var view = expected.view
            var events: [ShelfEvent] = []
            for _ in 0..<size {
                let event = nextEvent(over: view)
                if view.take(event) {
                    events.append(event)
                } else if events.isEmpty {
                    try await recordRefused(store, event)
                }
            }
            if let label = events.first, events.count <= 2, isUnsent(label) {
                for event in events { try await recordReplacing(store, event) }
            } else {
                let receipts = try await store.record(contentsOf: events)
                for (receipt, event) in zip(receipts, events) { try note(receipt, event) }
            }
        }
    }

    private mutating func nextEvent(over view: NaiveShelf) -> ShelfEvent {
        let item = random.number(in: 0...Self.itemCount - 1)
        let there = view.counts[item] ?? 0
        switch random.number(in: 0...19) {
        case 0...2:
            // A few boxes are labeled again and again.
            let box = random.chance(0.5) ? item % 10 : item
            return .labeled(item: box, text: "box \(random.number(in: 0...9_999))")
        case 3: return .taken(item: item, count: random.number(in: 1...9))
        default:
            return there < 20
                ? .put(item: item, count: random.number(in: 1...9))
                : .taken(item: item, count: random.number(in: 1...there))
        }
    }

    private mutating func note(_ receipt: Receipt, _ event: ShelfEvent) throws {
        try expected.record(receipt.number, event)
        tallies.recorded += 1
    }

    /// The model's view does not take the event, so the log must not either.
    private mutating func recordRefused(_ store: Store<Shelf>, _ event: ShelfEvent) async throws {
        let refusal = await refusal { () throws(CommandError) in try await store.record(event) }
        guard case .inapplicable = refusal else {
            throw Finding(
                "day \(day): \(event) does not apply, but recording it says "
                    + "\(refusal.map { "\($0)" } ?? "yes")")
        }
        tallies.refused += 1
    }

    /// Returns the error of a command; nil if it was carried out.
    private func refusal<R>(
        of command: () async throws(CommandError) -> R
    ) async -> CommandError? {
        do throws(CommandError) {
            _ = try await command()
            return nil
        } catch {
            return error
        }
    }

    /// Whether an event is a label, and the server has decided on no label of the item that the log
    /// still shows as pending. A real outbox notes what it has sent; then the log does not replace it.
    private func isUnsent(_ event: ShelfEvent) -> Bool {
        guard case .labeled = event else { return false }
        return !expected.overlay.contains {
            $0.event.item == event.item && sent.contains($0.number)
        }
    }

    /// Records a label that replaces a label of the same item that was not sent yet (F16). The log
    /// says whether it did.
    private mutating func recordReplacing(
        _ store: Store<Shelf>, _ event: ShelfEvent
    ) async throws {
        let receipt = try await store.record(event, replacing: "label-\(event.item)")
        if let replaced = try store.intent(receipt.number).replaces {
            guard expected.state(of: replaced) == .pending else {
                throw Finding("day \(day): \(receipt.number) has replaced a settled intent")
            }
            expected.withdraw(replaced)
            tallies.replaced += 1
        }
        try note(receipt, event)
    }

    /// Records a draft, an intent with a once key, a label that is typed, and sometimes an intent whose
    /// request is lost.
    private mutating func recordSpecially(_ store: Store<Shelf>) async throws {
        for text in ["o", "of", "off"] {
            try await recordReplacing(store, .labeled(item: 1, text: "\(text) \(day)"))
        }

        let draft = ShelfEvent.labeled(item: day % Self.itemCount, text: "draft \(day)")
        let receipt = try await store.record(draft, held: true)
        held.insert(receipt.number)
        try note(receipt, draft)

        let single = ShelfEvent.put(item: 0, count: 1)
        let first = try await store.record(single, once: "day-\(day)")
        try note(first, single)
        let second = try await store.record(single, once: "day-\(day)")
        guard second.isJoined, second.number == first.number else {
            throw Finding("day \(day): a once key made two intents, \(first) and \(second)")
        }
        tallies.joined += 1

        if day % (2 * Self.daysOfQuarter) == 8 {
            let event = ShelfEvent.put(item: day % Self.itemCount, count: 3)
            let lost = try await store.record(event)
            try note(lost, event)
            late[lost.number] = LateIntent(
                sequence: lost.sequence, dueDay: day + lateDays,
                compactionCount: tallies.compactions)
        }
    }

    private mutating func endDrafts(_ store: Store<Shelf>) async throws {
        for number in held.sorted() {
            if random.chance(0.3) {
                try await store.withdraw(number)
                expected.withdraw(number)
                tallies.withdrawn += 1
            } else {
                try await store.release(number)
            }
            held.remove(number)
        }
    }

    private mutating func withdrawSome(_ store: Store<Shelf>) async throws {
        for number in unsent where random.chance(0.02) {
            try await store.withdraw(number)
            expected.withdraw(number)
            tallies.withdrawn += 1
        }
    }

    /// Dismisses or retries what was rejected. A few rejections stay for more than half a year.
    private mutating func handleRejections(_ store: Store<Shelf>) async throws {
        for (number, rejection) in expected.rejections.sorted(by: { $0.key < $1.key }) {
            let isKept = number.value.isMultiple(of: 16) && day < rejection.day + 200
            guard !isKept, random.chance(0.9) else { continue }
            if random.chance(0.5), try await retry(store, number, rejection.event) { continue }
            try await store.dismiss(number)
            expected.unlist(number)
            tallies.dismissed += 1
        }
    }

    /// Returns false if the event does not apply any more.
    private mutating func retry(
        _ store: Store<Shelf>, _ number: IntentNumber, _ event: ShelfEvent
    ) async throws -> Bool {
        var view = expected.view
        guard view.take(event) else {
            let refusal = await refusal { () throws(CommandError) in try await store.retry(number) }
            guard case .inapplicable = refusal else {
                throw Finding(
                    "day \(day): intent \(number), \(event), does not apply, but retrying it says "
                        + "\(refusal.map { "\($0)" } ?? "yes")")
            }
            return false
        }
        try expected.record(try await store.retry(number).number, event)
        expected.unlist(number)
        tallies.retried += 1
        return true
    }

    // MARK: The device and the server

    /// The pending intents that may be sent or withdrawn.
    private var unsent: [IntentNumber] {
        expected.numbers(in: .pending).filter {
            !sent.contains($0) && !held.contains($0) && day >= late[$0]?.dueDay ?? 0
        }
    }

    private mutating func workElsewhere() {
        for _ in 0..<max(1, intentsOfDay / 25) {
            let item = random.number(in: 0...Self.itemCount - 1)
            let event: ShelfEvent =
                server.count(of: item) < 20
                ? .put(item: item, count: random.number(in: 1...9))
                : .taken(item: item, count: random.number(in: 1...9))
            if case .accepted = server.decide(event, of: nil, isRefused: false) {
                tallies.otherEvents += 1
            }
        }
    }

    /// Sends what is pending, and records the answers. A few acceptances are lost: then a page says it.
    private mutating func send(_ store: Store<Shelf>) async throws {
        var accepted: [Acknowledgement<ShelfEvent>] = []
        var rejected: [IntentNumber] = []
        let numbers = unsent
        for intent in expected.overlay where numbers.contains(intent.number) {
            let number = intent.number
            let isLate = try noteIfLate(number, store)
            let id = IntentID(replica: Self.replica, number: number)
            let isRefused = isLate ? tallies.answeredLate.isMultiple(of: 2) : random.chance(0.015)
            switch server.decide(intent.event, of: id, isRefused: isRefused) {
            case .accepted(let position):
                sent.insert(number)
                if random.chance(0.95) {
                    accepted.append(Acknowledgement(number, position: position))
                }
            case .rejected: rejected.append(number)
            }
        }
        let results = try await store.acknowledge(contentsOf: accepted)
        for (answer, result) in zip(accepted, results) {
            guard case .recorded = result else {
                throw Finding("day \(day): intent \(answer.intent) was answered before: \(result)")
            }
            expected.accept(answer.intent)
        }
        for number in rejected {
            try await store.reject(number, code: "no", message: "not on this shelf")
            try expected.reject(number, day: day)
            tallies.rejected += 1
        }
    }

    /// Returns whether this is the answer to an intent that was pending for ten compactions.
    private mutating func noteIfLate(
        _ number: IntentNumber, _ store: Store<Shelf>
    ) throws -> Bool {
        guard let intent = late.removeValue(forKey: number) else { return false }
        guard tallies.compactions >= intent.compactionCount + 10,
            store.status.base > intent.sequence
        else {
            throw Finding("day \(day): the entry of the late intent \(number) is still there")
        }
        tallies.answeredLate += 1
        return true
    }

    private mutating func fetch(_ store: Store<Shelf>) async throws {
        while server.hasNews {
            let page = server.page(countMax: 32)
            guard let through = page.last?.position else { return }
            guard case .confirmed(_, through) = try await store.confirm(page, through: through)
            else {
                throw Finding("day \(day): the page through \(through) was not recorded")
            }
            tallies.pages += 1
            for event in page {
                guard let content = event.event else { continue }
                try expected.confirm(content, of: event.origin?.number)
                if let number = event.origin?.number { sent.remove(number) }
            }
            if random.chance(0.02) {
                guard case .ignored = try await store.confirm(page, through: through) else {
                    throw Finding("day \(day): a repeated page was recorded")
                }
            }
        }
    }
}
