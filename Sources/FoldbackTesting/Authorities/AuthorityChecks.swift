import Foldback
import FoldbackSync

// MARK: A1: each intent is decided once

extension AuthorityCheck {
    static var repetition: [AuthorityCheck] {
        [
            AuthorityCheck(
                name: "A1: a repeated intent gets its first verdict",
                remedy: "Keep the verdict by intent id, with its position, in the transaction that "
                    + "applies the event, and answer from it."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let intents = [
                    try exchange.intent(1, of: replica), try exchange.intent(2, of: replica),
                ]
                let first = try await exchange.accepted(intents)
                for again in [[intents[0]], [intents[1]], intents] {
                    try exchange.requireSame(try await exchange.decide(again), first)
                }
                // A request may have known and new intents.
                let mixed = intents + [try exchange.intent(3, of: replica)]
                let last = try await exchange.decide(mixed)
                try exchange.requireSame(last.filter { first[$0.key] != nil }, first)
                try exchange.requireAccepted(mixed, in: last)
                try await exchange.requireEffects(of: mixed, last)
            },
            AuthorityCheck(
                name: "A1: ids are a set, not a highest number",
                remedy:
                    "Keep every decided id. A lower number may come after a higher one, because "
                    + "answers get lost in any order."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                var intents: [Submission<Event>] = []
                var verdicts: [IntentID: Verdict<Event>] = [:]
                for number in [3, 1, 2] as [UInt64] {
                    let intent = try exchange.intent(number, of: replica)
                    intents.append(intent)
                    verdicts.merge(try await exchange.decide([intent])) { $1 }
                }
                try exchange.requireAccepted(intents, in: verdicts)
                try await exchange.requireEffects(of: intents, verdicts)
            },
            AuthorityCheck(
                name: "A1: an id with another event is rejected, and the first verdict stays",
                remedy:
                    "Keep the event, or a digest of its format and bytes, with each id. Reject the "
                    + "same id with another one, and do not keep that rejection."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let intent = try exchange.intent(1, of: replica)
                let other = try exchange.intent(1, of: replica)
                let first = try await exchange.decide([intent])
                guard case .rejected = try await exchange.decide([other])[other.id] else {
                    throw Broken(
                        "\(exchange.shown(other.id)) came with another event, and was accepted")
                }
                try exchange.requireSame(try await exchange.decide([intent]), first)
                try await exchange.requireEffects(of: [intent], first)
            },
            AuthorityCheck(
                name: "A1: a rejection is remembered",
                remedy: "Keep rejections as you keep acceptances. The user was told.",
                needs: { $0.refused == nil ? "samples that the server refuses" : nil }
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let (intent, unlocking) = try exchange.refusedIntent(of: replica)
                let first = try await exchange.decide([intent])
                try exchange.requireRejected(intent, in: first)
                if let unlocking { try await exchange.accepted([unlocking]) }
                let again = try await exchange.decide([intent])
                try exchange.requireRejected(intent, in: again)
                try exchange.requireSame(again, first)
                try await exchange.requireNoEffect(of: intent)
                // Else the check says nothing: the event would be refused anyway.
                guard unlocking != nil else { return }
                try await exchange.accepted([try exchange.intent(3, of: replica, intent.event)])
            },
            AuthorityCheck(
                name: "A1: an intent that comes twice at once is decided once",
                remedy:
                    "Look the id up and decide in one transaction, under a lock or a unique key."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let intents = [try exchange.intent(1, of: replica)]
                let (authority, device) = (
                    exchange.authority, SyncPoint(lineage: exchange.lineage, through: 0)
                )
                let answers = await withTaskGroup(of: Verdicts<Event>?.self) { group in
                    for _ in 0..<8 {
                        group.addTask { try? await authority.submit(intents, from: device) }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let verdicts = try await exchange.decide(intents)
                for case let answer? in answers {
                    try exchange.requireSame(answer.byIntent.filter { $0.value.isFinal }, verdicts)
                }
                try exchange.requireAccepted(intents, in: verdicts)
                try await exchange.requireEffects(of: intents, verdicts)
            },
            AuthorityCheck(
                name: "A1: a replacing event stays the same",
                remedy:
                    "Keep the event that was applied, and name it in each answer on the intent.",
                needs: { $0.reworded == nil ? "samples that the server rewords" : nil }
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let event = exchange.samples.reworded?(exchange.number())
                let intents = [try exchange.intent(1, of: replica, event)]
                let first = try await exchange.decide(intents)
                guard case .accepted(_, .some) = first[intents[0].id] else {
                    throw Broken("the sample of a reworded event has no replacement")
                }
                try exchange.requireSame(try await exchange.decide(intents), first)
                try await exchange.requireEffects(of: intents, first)
            },
        ]
    }
}

// MARK: A2: what is delivered

extension AuthorityCheck {
    static var delivery: [AuthorityCheck] {
        [
            AuthorityCheck(
                name: "A2: an effect is there when its verdict is",
                remedy: "Answer only after the transaction with verdict and effect is durable and "
                    + "readers see it."
            ) { exchange throws(Broken) in
                let intent = try exchange.intent(1, of: exchange.replica())
                let answer = try await exchange.submit([intent])
                guard case .accepted(let position?, _) = answer[intent.id] else { return }
                guard answer.head ?? position >= position else {
                    throw Broken(
                        "the verdict has position \(position), and the answer's head is "
                            + "\(answer.head ?? 0)")
                }
                let (events, through, _) = try await exchange.fetch(
                    reaching: position)
                guard events.contains(where: { $0.origin == intent.id }) else {
                    throw Broken(
                        "\(exchange.shown(intent.id)) is accepted at \(position), and the pages up "
                            + "to \(through) do not have its effect")
                }
            },
            AuthorityCheck(
                name: "A2: the author gets the effects too, with the intents' ids",
                remedy:
                    "Deliver each effect to all replicas that may see it, the author's too, with "
                    + "its intent as its origin."
            ) { exchange throws(Broken) in
                let (one, two) = (exchange.replica(), exchange.replica())
                let intents = [
                    try exchange.intent(1, of: one), try exchange.intent(1, of: two),
                    try exchange.intent(2, of: one),
                ]
                try await exchange.requireEffects(of: intents, try await exchange.accepted(intents))
            },
            AuthorityCheck(
                name: "A2: a rejected intent has no effect",
                remedy: "Decide before you apply, or roll the transaction back.",
                needs: { $0.refused == nil ? "samples that the server refuses" : nil }
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let (intent, _) = try exchange.refusedIntent(of: replica)
                try exchange.requireRejected(intent, in: try await exchange.decide([intent]))
                try await exchange.requireNoEffect(of: intent)
            },
            AuthorityCheck(
                name: "A2: through is not ahead of its page",
                remedy:
                    "Set through to the last position that the page has in whole, or to the head "
                    + "if the page has everything up to it."
            ) { exchange throws(Broken) in
                let pages = try await exchange.manyPages()
                for (id, position) in pages.missing where !pages.ends.contains(position) {
                    throw Broken(
                        "\(exchange.shown(id)) is accepted at \(position), and no page has it")
                }
                for end in pages.ends.sorted().prefix(4) {
                    let rest = try await exchange.fetch(after: end, reaching: pages.through)
                    let wanted = pages.events.filter { $0.position > end }.map(\.origin)
                    guard
                        rest.events.filter({ $0.position <= pages.through }).map(\.origin) == wanted
                    else { throw Broken("the events after \(end) are others the second time") }
                }
            },
            AuthorityCheck(
                name: "A2: a page has whole positions",
                remedy: "End a page between two positions: all events of a position go together."
            ) { exchange throws(Broken) in
                let pages = try await exchange.manyPages()
                for (id, position) in pages.missing where pages.ends.contains(position) {
                    throw Broken(
                        "a page ends at \(position), and lacks \(exchange.shown(id)), which is "
                            + "there too")
                }
            },
            AuthorityCheck(
                name: "A2: a long poll misses no event",
                remedy: "Look for events after you have begun to listen, not before."
            ) { exchange throws(Broken) in
                let intent = try exchange.intent(1, of: exchange.replica())
                let device = SyncPoint(lineage: exchange.lineage, through: exchange.start)
                let authority = exchange.authority
                let poll = Task {
                    try? await authority.changes(after: device, waiting: .seconds(5))
                }
                let verdicts = try await exchange.decide([intent])
                guard case .accepted(let position?, _) = verdicts[intent.id],
                    let page = await poll.value.map(exchange.noted)
                else { return }
                var events = page.events
                // A poll may end early. The next page begins where it ended.
                if page.through < position {
                    events += try await exchange.fetch(after: page.through, reaching: position)
                        .events
                }
                guard events.contains(where: { $0.origin == intent.id }) else {
                    throw Broken("the poll passed \(position), and has no effect from there")
                }
            },
        ]
    }
}

// MARK: A3, A4 and N6: positions, final verdicts, lineages

extension AuthorityCheck {
    static var positions: [AuthorityCheck] {
        [
            AuthorityCheck(
                name: "A3: positions rise, and are used once",
                remedy:
                    "Give each effect a higher position than all that were delivered, in the order "
                    + "in which transactions commit. A sequence that is drawn before the commit does "
                    + "not."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                var last = exchange.start
                for number in 1...3 as ClosedRange<UInt64> {
                    let intent = try exchange.intent(number, of: replica)
                    let verdict = try await exchange.decide([intent])[intent.id]
                    guard case .accepted(let position?, _) = verdict else { continue }
                    guard position > last else {
                        throw Broken(
                            "\(exchange.shown(intent.id)) is at \(position), and positions up to "
                                + "\(last) were delivered before")
                    }
                    last = max(try await exchange.fetch(after: last).through, position)
                }
            }
        ]
    }

    static var finality: [AuthorityCheck] {
        [
            AuthorityCheck(
                name: "A4: what is too much for one request is not rejected",
                remedy:
                    "Decide on as many intents as you like, and leave the others without a verdict, or "
                    + "fail the request. The device sends them again in smaller requests."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                var intents: [Submission<Event>] = []
                for number in 1...300 as ClosedRange<UInt64> {
                    intents.append(try exchange.intent(number, of: replica))
                }
                let first = await exchange.attempted(intents)
                for intent in intents {
                    guard case .rejected(let rejection) = first[intent.id] else { continue }
                    throw Broken(
                        "\(exchange.shown(intent.id)), which is a sample of an accepted event, is "
                            + "rejected in a request of 300: \(rejection.message)")
                }
                var verdicts: [IntentID: Verdict<Event>] = [:]
                for start in stride(from: 0, to: intents.count, by: 50) {
                    let piece = Array(intents[start..<start + 50])
                    verdicts.merge(try await exchange.accepted(piece)) { $1 }
                }
                try exchange.requireSame(first.filter(\.value.isFinal), verdicts)
            },
            AuthorityCheck(
                name: "A4: a postponed intent is decided later",
                remedy:
                    "Answer with later and keep nothing of the intent, nor of those after it in its "
                    + "lane. Decide again when it comes again. Reject only what can never pass.",
                needs: { $0.postponed == nil ? "samples that the server postpones" : nil }
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                let number = exchange.number()
                let intents = [
                    try exchange.intent(1, of: replica, exchange.samples.postponed?(number)),
                    try exchange.intent(2, of: replica),
                ]
                let first = try await exchange.submit(intents)
                guard case .later = first[intents[0].id] else {
                    throw Broken(
                        "\(exchange.shown(intents[0].id)), which must be postponed, is decided")
                }
                guard first[intents[1].id]?.isFinal != true else {
                    throw Broken(
                        "\(exchange.shown(intents[1].id)) is decided, and "
                            + "\(exchange.shown(intents[0].id)) before it waits")
                }
                let settling = exchange.samples.settling?(number)
                try await exchange.accepted([
                    try exchange.intent(1, of: exchange.replica(), settling)
                ])
                try await exchange.requireEffects(
                    of: intents, try await exchange.accepted(intents))
            },
        ]
    }

    static var lineages: [AuthorityCheck] {
        [
            AuthorityCheck(
                name: "N6: each answer names the lineage and the head",
                remedy:
                    "Make a random lineage with the database, and send it and the highest position "
                    + "with each answer. Without them, nobody notices a restored backup."
            ) { exchange throws(Broken) in
                let page = try await exchange.page(after: 0)
                let answer = try await exchange.submit([
                    try exchange.intent(1, of: exchange.replica())
                ])
                guard page.lineage != nil, page.head != nil else {
                    throw Broken("a page names no lineage or no head")
                }
                guard answer.lineage == page.lineage, answer.head != nil else {
                    throw Broken(
                        "an answer to intents names another lineage than a page, or no head")
                }
            },
            AuthorityCheck(
                name: "N6: a request with another lineage is superseded, and decides nothing",
                remedy:
                    "Compare the request's lineage before you decide. Answer with superseded and 0."
            ) { exchange throws(Broken) in
                let intent = try exchange.intent(1, of: exchange.replica())
                // The check before names a server without a lineage.
                guard exchange.lineage != nil else { return }
                let stranger = SyncPoint(lineage: .fresh(), through: 0)
                guard try await exchange.superseded([intent], from: stranger) == 0 else {
                    throw Broken("the request was not superseded from 0")
                }
                guard await exchange.isSuperseded(fetching: stranger) else {
                    throw Broken("it fetched a page from a server that is not its own")
                }
                try await exchange.requireNoEffect(of: intent)
                try await exchange.requireEffects(
                    of: [intent], try await exchange.accepted([intent]))
            },
            AuthorityCheck(
                name: "N6: a device that is ahead of the server is superseded",
                remedy:
                    "Compare the request's through with the head before you decide. Answer with "
                    + "superseded and the head."
            ) { exchange throws(Broken) in
                let intent = try exchange.intent(1, of: exchange.replica())
                let ahead = SyncPoint(
                    lineage: exchange.lineage,
                    through: Position(
                        exchange.start.value.addingReportingOverflow(1_000_000).partialValue))
                guard let shared = try await exchange.superseded([intent], from: ahead),
                    shared < ahead.through
                else { throw Broken("the request was not superseded") }
                guard await exchange.isSuperseded(fetching: ahead) else {
                    throw Broken("it fetched a page after a position that the server never had")
                }
                try await exchange.requireNoEffect(of: intent)
            },
            AuthorityCheck(
                name: "N6: a page's digest comes back, and another digest is superseded",
                remedy:
                    "Compare the request's digest with your own at its through before you decide. "
                    + "Answer with superseded and 0 if you have another one there, and as always if "
                    + "you have none."
            ) { exchange throws(Broken) in
                let replica = exchange.replica()
                var last = try await exchange.page(after: exchange.start)
                for number in 1...3 as ClosedRange<UInt64> {
                    try await exchange.accepted([try exchange.intent(number, of: replica)])
                    let page = try await exchange.page(after: last.through, digest: last.digest)
                    // The position before has its digest still, whatever came after it.
                    _ = try await exchange.page(after: last.through, digest: last.digest)
                    last = page
                }
                guard let digest = last.digest else {
                    throw Broken("a server whose pages have digests", isOptional: true)
                }
                let intents = [try exchange.intent(4, of: replica)]
                let other = SyncPoint(
                    lineage: exchange.lineage, through: last.through,
                    digest: RunningDigest(digest.description == "other" ? "another" : "other"))
                guard try await exchange.superseded(intents, from: other) == 0 else {
                    throw Broken("the request was not superseded from 0")
                }
                guard await exchange.isSuperseded(fetching: other) else {
                    throw Broken("it fetched a page after data that the server does not have")
                }
                try await exchange.requireNoEffect(of: intents[0])
                let own = SyncPoint(
                    lineage: exchange.lineage, through: last.through, digest: digest)
                try exchange.requireAccepted(
                    intents, in: try await exchange.decide(intents, from: own))
            },
        ]
    }
}
