import Foldback

/// Everything that happens to a fleet: actions of users and faults, with their times. Everything
/// else works and takes no time.
struct FleetScript<Event: Sendable>: Sendable {
    let kind: LogKind
    let members: [Member]
    /// How many events the authority sends in one page of the downlink.
    let eventsPerPageMax: Int
    /// Whether the authority compares what devices say that they know. If not, only devices do.
    var comparesDevices = true
    /// The seed of random waits and latencies.
    let seed: UInt64
    /// See ``VirtualTime``.
    let order: UInt64
    /// Whether the authority waits for events in long polls. If not, it answers them at once.
    var authorityWaits = true
    var steps: [Step] = []
    /// Whether the outboxes have lanes (S1).
    var hasLanes = false

    /// A replica and its link.
    struct Member: Sendable {
        let isOnDisk: Bool
        let requestsMax: Int
        let intentsPerRequestMax: Int
        var bytesPerRequestMax = 1 << 20
        /// The longest time of a message in one direction.
        let latencyMax: Duration
        /// Whether a downlink follows the authority. If not, the replica has the events of its
        /// fetches.
        var follows = false
    }

    struct Step: Sendable {
        /// Since the step before.
        let delay: Duration
        /// The replica of the step. A step of the authority is for the authority of this replica.
        let member: Int
        let act: Act
    }

    enum Act: Sendable {
        /// `ruling`: the authority's verdict on the intent.
        case record(Event, force: Bool, confirmOnly: Bool, once: String?, ruling: Ruling)
        /// A command about one of the intents that it is for, by its place among them.
        case change(Int, IntentCommand)
        /// Records another event in place of a rejected intent, by its place among them.
        case edit(Int, Event)
        case fetch
        case signIn
        /// A fault of the next call.
        case link(LinkFault)
        case partition(Duration, isKnown: Bool)
        /// `turns`: how often other tasks get a turn before the crash.
        case crash(Duration, turns: Int, copiesLog: Bool)
        case authorityCrash(Duration)
        /// The authority keeps only its first events, and begins again under another lineage.
        case authorityLoss(keeping: Int)
        /// The authority fails on every request.
        case outage(Duration)
        /// Another outbox of the store runs. `cancels`: the first is canceled right before.
        case secondRun(cancels: Bool)
    }

    enum Ruling: Sendable {
        case accept
        case reject
        case reword(Event)
        /// The authority fails on each request with the intent, for ever.
        case poison
    }
}

/// A fault of one call.
enum LinkFault: Hashable, Sendable {
    case lostRequest
    case lostAnswer
    case lateAnswer(Duration)
    case duplicate
    case partial(Int)
    case later(Duration?)
    case unavailable(Duration?)
    case unauthenticated
    /// Adds this time in each direction.
    case slow(Duration)
    /// The answer is that of a newer server.
    case newer
    /// The call is carried out, and the authority fails after that.
    case failure
}

// MARK: For people

extension FleetScript {
    /// A line for each member that is not the simplest, and for each step: virtual time, actor,
    /// action.
    var lines: [String] {
        var lines: [String] = []
        for (index, member) in members.enumerated() {
            let traits = member.traits
            if !traits.isEmpty { lines.append("\(Self.name(of: index)): \(traits)") }
        }
        if hasLanes { lines.append("outboxes have lanes") }
        if !authorityWaits { lines.append("the authority answers long polls at once") }
        if order != 0 { lines.append("tasks that are ready at the same time run in random order") }
        var time = Duration.zero
        for step in steps {
            time += step.delay
            lines.append("\(time.inSeconds)  \(step.actor)  \(step.act)")
        }
        return lines
    }

    static func name(of member: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        return member < letters.count ? "\(letters[member])" : "r\(member + 1)"
    }
}

extension FleetScript.Member {
    fileprivate var traits: String {
        var parts: [String] = []
        if isOnDisk { parts.append("on disk") }
        if requestsMax > 1 { parts.append("\(requestsMax) requests at once") }
        if latencyMax > .zero { parts.append("each way takes up to \(latencyMax.inSeconds) s") }
        if follows { parts.append("follows") }
        return parts.joined(separator: ", ")
    }
}

extension FleetScript.Step {
    var actor: String {
        switch act {
        case .authorityCrash, .authorityLoss, .outage: "the authority"
        default: FleetScript<Event>.name(of: member)
        }
    }
}

extension FleetScript.Act: CustomStringConvertible {
    var description: String {
        switch self {
        case .record(let event, let force, let confirmOnly, let once, let ruling):
            [
                "records \(StateText.inline(event))", force ? "forced" : nil,
                confirmOnly ? "confirm-only" : nil, once.map { "once \"\($0)\"" },
                ruling.description,
            ].compactMap(\.self).joined(separator: ", ")
        case .change(_, let command): command.userText
        case .edit(_, let event): "edits what was rejected: \(StateText.inline(event))"
        case .fetch: "fetches"
        case .signIn: "signs in"
        case .link(let fault): "next call: \(fault)"
        case .partition(let time, let isKnown):
            "is \(isKnown ? "offline" : "cut off") for \(time.inSeconds) s"
        case .crash(let time, _, let copiesLog):
            "crashes, and restarts \(copiesLog ? "on a copy of its log " : "")"
                + "after \(time.inSeconds) s"
        case .authorityLoss(let count): "keeps only its first \(count) events, as another authority"
        case .authorityCrash(let time): "crashes, and restarts after \(time.inSeconds) s"
        case .outage(let time): "fails on everything for \(time.inSeconds) s"
        case .secondRun(let cancels):
            "runs another outbox\(cancels ? " after canceling the first" : "")"
        }
    }
}

extension FleetScript.Ruling {
    /// Nil for an accepted intent.
    fileprivate var description: String? {
        switch self {
        case .accept: nil
        case .reject: "to be rejected"
        case .reword(let event): "to be reworded as \(StateText.inline(event))"
        case .poison: "on which the authority fails"
        }
    }
}

extension LinkFault: CustomStringConvertible {
    var description: String {
        func lasting(_ time: Duration?) -> String { time.map { " for \($0.inSeconds) s" } ?? "" }
        return switch self {
        case .lostRequest: "the request is lost"
        case .lostAnswer: "the answer is lost"
        case .lateAnswer(let time): "the answer arrives \(time.inSeconds) s after the timeout"
        case .duplicate: "the request arrives twice"
        case .partial(let count): "the answer has only the first \(count)"
        case .later(let time): "the authority answers later\(lasting(time))"
        case .unavailable(let time): "the authority is unavailable\(lasting(time))"
        case .unauthenticated: "the user is signed out"
        case .slow(let time): "each way takes \(time.inSeconds) s longer"
        case .newer: "the answer is a newer server's"
        case .failure: "the authority fails"
        }
    }
}

extension Duration {
    /// Seconds with three decimal places.
    var inSeconds: String {
        let milliseconds =
            components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        let rest = "\(milliseconds % 1_000)"
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
