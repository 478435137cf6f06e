import Foldback

/// All that happens to a fleet: what users do, what goes wrong, and when. What is not in it goes well
/// and takes no time.
struct FleetScript<Event: Sendable>: Sendable {
    let kind: LogKind
    let members: [Member]
    /// What the authority sends at once by the downlink.
    let eventsPerPageMax: Int
    /// Of the chance in waits and latencies.
    let seed: UInt64
    /// See ``VirtualTime``.
    let order: UInt64
    var steps: [Step] = []

    /// A replica and its link.
    struct Member: Sendable {
        let isOnDisk: Bool
        let requestsMax: Int
        let intentsPerRequestMax: Int
        /// The most that a message takes in one direction.
        let latencyMax: Duration
    }

    struct Step: Sendable {
        /// Since the step before.
        let delay: Duration
        /// Whose it is; the authority's where it is nobody's.
        let member: Int
        let act: Act
    }

    enum Act: Sendable {
        /// `ruling`: what the authority will say of it.
        case record(Event, force: Bool, confirmOnly: Bool, once: String?, ruling: Ruling)
        /// A command about one of the intents that it is for, counted from 0.
        case change(Int, IntentCommand)
        case fetch
        case signIn
        /// Happens to the next call.
        case link(LinkFault)
        case partition(Duration, isKnown: Bool)
        /// `turns`: how often others get a turn before.
        case crash(Duration, turns: Int, copiesLog: Bool)
        case authorityCrash(Duration)
    }

    enum Ruling: Sendable {
        case accept
        case reject
        case reword(Event)
    }
}

/// What goes wrong with one call.
enum LinkFault: Hashable, Sendable {
    case lostRequest
    case lostAnswer
    case lateAnswer(Duration)
    case duplicate
    case partial(Int)
    case later(Duration?)
    case unavailable(Duration?)
    case unauthenticated
    /// So much longer in each direction.
    case slow(Duration)
}

// MARK: For people

extension FleetScript {
    /// A line for what is not as simple as can be, and one for each step: virtual time, who, what.
    var lines: [String] {
        var lines: [String] = []
        for (index, member) in members.enumerated() {
            let odd = member.oddities
            if !odd.isEmpty { lines.append("\(Self.name(of: index)): \(odd)") }
        }
        if order != 0 { lines.append("tasks that are ready at once run in any order") }
        var time = Duration.zero
        for step in steps {
            time += step.delay
            lines.append("\(time.inSeconds)  \(step.who)  \(step.act)")
        }
        return lines
    }

    static func name(of member: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        return member < letters.count ? "\(letters[member])" : "r\(member + 1)"
    }
}

extension FleetScript.Member {
    fileprivate var oddities: String {
        var parts: [String] = []
        if isOnDisk { parts.append("on disk") }
        if requestsMax > 1 { parts.append("\(requestsMax) requests at once") }
        if latencyMax > .zero { parts.append("each way takes up to \(latencyMax.inSeconds) s") }
        return parts.joined(separator: ", ")
    }
}

extension FleetScript.Step {
    var who: String {
        if case .authorityCrash = act { return "the authority" }
        return FleetScript<Event>.name(of: member)
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
        case .fetch: "fetches"
        case .signIn: "signs in"
        case .link(let fault): "next call: \(fault)"
        case .partition(let time, let isKnown):
            "is \(isKnown ? "offline" : "cut off") for \(time.inSeconds) s"
        case .crash(let time, _, let copiesLog):
            "dies, and begins again \(copiesLog ? "on a copy of its log " : "")"
                + "after \(time.inSeconds) s"
        case .authorityCrash(let time): "dies, and begins again after \(time.inSeconds) s"
        }
    }
}

extension FleetScript.Ruling {
    /// Nil where it is what it should be.
    fileprivate var description: String? {
        switch self {
        case .accept: nil
        case .reject: "to be rejected"
        case .reword(let event): "to be reworded as \(StateText.inline(event))"
        }
    }
}

extension LinkFault: CustomStringConvertible {
    var description: String {
        func behind(_ time: Duration?) -> String { time.map { " for \($0.inSeconds) s" } ?? "" }
        return switch self {
        case .lostRequest: "the request is lost"
        case .lostAnswer: "the answer is lost"
        case .lateAnswer(let time): "the answer comes \(time.inSeconds) s after it was given up"
        case .duplicate: "the request arrives twice"
        case .partial(let count): "the answer has the first \(count) only"
        case .later(let time): "all is put off\(behind(time))"
        case .unavailable(let time): "the authority takes no requests\(behind(time))"
        case .unauthenticated: "the authority does not know who asks"
        case .slow(let time): "takes \(time.inSeconds) s longer each way"
        }
    }
}

extension Duration {
    /// With three digits behind the point.
    var inSeconds: String {
        let milliseconds =
            components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        let rest = "\(milliseconds % 1_000)"
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
