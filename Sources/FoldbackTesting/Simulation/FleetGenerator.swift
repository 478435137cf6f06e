import Foldback

extension Generator where Value: Sendable {
    /// Scripts of a fleet with these events.
    ///
    /// The first alternative of each choice is harmless: a script of zeros has no faults.
    /// - Parameters:
    ///   - members: replicas, at least 1. In acknowledgement logs each replica has its own
    ///     authority.
    ///   - stepsMax: how many steps at most; about half as many on average.
    func fleets(members: Int, stepsMax: Int) -> Generator<FleetScript<Value>> {
        precondition(members >= 1, "a fleet of \(members) replicas")
        return Generator<FleetScript<Value>> { choices in
            let kind: LogKind = choices.oneIn(4) ? .acknowledgement : .downlink
            var script = FleetScript<Value>(
                kind: kind,
                members: (0..<members).map { _ in
                    choices.span { FleetScript.Member(kind, from: &$0) }
                },
                eventsPerPageMax: [256, 1, 2, 5][choices.index([3, 1, 1, 1])],
                comparesDevices: !choices.oneIn(2), seed: choices.draw(upTo: 0xFFFF, .uniform),
                order: choices.oneIn(2) ? choices.draw(upTo: 0xFFFF, .uniform) : 0,
                authorityWaits: !choices.oneIn(3))
            for _ in 0..<stepsMax {
                let step = try choices.span { choices -> FleetScript<Value>.Step? in
                    guard choices.draw(upTo: 1, .weights([1, UInt64(max(stepsMax, 2))])) == 1
                    else { return nil }
                    return try choices.span {
                        try FleetScript.Step(events: self, members: members, from: &$0)
                    }
                }
                guard let step else { break }
                script.steps.append(step)
            }
            // In acknowledgement logs, answers confirm in the order in which they arrive (F4).
            script.hasLanes = choices.oneIn(3) && kind == .downlink
            return script
        }
    }
}

extension Choices {
    /// True in one of `count` cases; false is simpler.
    fileprivate mutating func oneIn(_ count: UInt64) -> Bool {
        draw(upTo: 1, .weights([count - 1, 1])) == 1
    }

    /// An index of these weights.
    fileprivate mutating func index(_ weights: [UInt64]) -> Int {
        Int(draw(upTo: UInt64(weights.count - 1), .weights(weights)))
    }

    /// One of these, in seconds; the first is the simplest.
    fileprivate mutating func seconds(_ times: [Double]) -> Duration {
        .seconds(times[Int(draw(upTo: UInt64(times.count - 1), .uniform))])
    }
}

extension FleetScript.Member {
    /// In an acknowledgement log answers confirm in the order in which they arrive (F4). With
    /// several requests at once that is not the authority's order, and states could not be
    /// compared. So there is one request at a time.
    fileprivate init(_ kind: LogKind, from choices: inout Choices) {
        isOnDisk = choices.oneIn(12)
        let requestsMax = [1, 2, 4][choices.index([2, 1, 1])]
        self.requestsMax = kind == .acknowledgement ? 1 : requestsMax
        intentsPerRequestMax = [64, 1, 2, 3][choices.index([2, 1, 1, 1])]
        latencyMax = choices.seconds([0, 0.01, 0.2, 3])
        follows = choices.oneIn(2)
        bytesPerRequestMax = choices.oneIn(3) ? 40 : 1 << 20
    }
}

extension FleetScript.Step {
    private enum Kind {
        case record, fetch, link
        case change(IntentCommand)
        case signIn, partition, crash, authorityCrash, authorityLoss, outage, secondRun, edit
    }

    /// The simplest first. ``RecordedFleet`` has the indexes, so new kinds go to the end.
    private static var kinds: [(kind: Kind, weight: UInt64)] {
        [
            (.record, 30), (.fetch, 14), (.link, 24), (.change(.withdraw), 4),
            (.change(.retry), 4), (.change(.dismiss), 2), (.signIn, 3), (.partition, 3),
            (.crash, 3), (.authorityCrash, 2), (.authorityLoss, 1), (.change(.abandon), 2),
            (.outage, 2), (.secondRun, 2), (.edit, 2), (.change(.undo), 5), (.change(.redo), 2),
        ]
    }

    fileprivate init(
        events: Generator<Event>, members: Int, from choices: inout Choices
    ) throws {
        delay = choices.seconds([0, 0.001, 0.05, 0.5, 4, 30])
        member = Int(choices.draw(upTo: UInt64(members - 1), .uniform))
        let kinds = Self.kinds
        act =
            switch kinds[choices.index(kinds.map(\.weight))].kind {
            case .record: try .recorded(events, from: &choices)
            case .fetch: .fetch
            case .link: .link(LinkFault(from: &choices))
            case .change(let command): .change(choices.place, command)
            case .signIn: .signIn
            case .partition:
                .partition(choices.seconds([1, 0.1, 10, 100]), isKnown: choices.oneIn(2))
            case .crash:
                .crash(
                    choices.seconds([0, 1, 60]),
                    turns: Int(choices.draw(upTo: 16, .uniform)), copiesLog: choices.oneIn(2))
            case .authorityCrash: .authorityCrash(choices.seconds([0, 1, 30]))
            case .authorityLoss:
                .authorityLoss(keeping: Int(choices.draw(upTo: 7, .uniform)))
            case .outage: .outage(choices.seconds([1, 30, 1_000]))
            case .secondRun: .secondRun(cancels: choices.oneIn(2))
            case .edit: .edit(choices.place, try choices.span { try events.generate(from: &$0) })
            }
    }
}

extension Choices {
    /// A place in a list whose length is known later.
    fileprivate var place: Int {
        mutating get { Int(draw(upTo: 7, .uniform)) }
    }
}

extension FleetScript.Act {
    fileprivate static func recorded(
        _ events: Generator<Event>, from choices: inout Choices
    ) throws -> Self {
        let event = try choices.span { try events.generate(from: &$0) }
        let ruling: FleetScript.Ruling =
            switch choices.index([14, 4, 4, 1]) {
            case 0: .accept
            case 1: .reject
            case 2: .reword(try choices.span { try events.generate(from: &$0) })
            default: .poison
            }
        let force = choices.oneIn(2)
        let confirmOnly = choices.oneIn(10)
        let key = choices.index([8, 1, 1])
        return .record(
            event, force: force, confirmOnly: confirmOnly, once: key == 0 ? nil : "key \(key)",
            ruling: ruling)
    }
}

extension LinkFault {
    fileprivate init(from choices: inout Choices) {
        func wait(_ choices: inout Choices) -> Duration? {
            choices.oneIn(2) ? choices.seconds([1, 20, 100_000]) : nil
        }
        switch choices.index([4, 4, 3, 3, 3, 2, 2, 1, 3, 4, 3]) {
        case 0: self = .lostRequest
        case 1: self = .lostAnswer
        case 2: self = .lateAnswer(choices.seconds([0, 0.5, 6, 200]))
        case 3: self = .duplicate
        case 4: self = .partial(Int(choices.draw(upTo: 3, .uniform)))
        case 5: self = .later(wait(&choices))
        case 6: self = .unavailable(wait(&choices))
        case 7: self = .unauthenticated
        case 8: self = .slow(choices.seconds([0.1, 1, 15]))
        case 9: self = .newer
        default: self = .failure
        }
    }
}
