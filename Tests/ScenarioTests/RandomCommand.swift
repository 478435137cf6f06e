import Foldback
import TestSupport

/// Anything that can be asked of a log.
enum RandomCommand {
    case record(Move, force: Bool, confirmOnly: Bool, once: String?)
    case acknowledge(Int, position: Int?, replacement: Move?)
    case reject(Int, String)
    case withdraw(Int)
    case dismiss(Int)
    case retry(Int, force: Bool)
    case confirm([ReferenceEvent], through: Int?)
    case checkpoint
    case reopen

    /// A command that is likely to mean something to a log in that state, and sometimes does not.
    static func random(
        for state: ReferenceLog.State, _ kind: LogKind, using random: inout SeededGenerator
    ) -> RandomCommand {
        let number = Int.random(in: 1...state.intents.count + 1, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<38:
            return .record(
                .random(using: &random), force: random.oneIn(4), confirmOnly: random.oneIn(8),
                once: random.oneIn(5) ? ["x", "y"].randomElement(using: &random) : nil)
        case 38..<56:
            let takesPosition = kind == .downlink ? !random.oneIn(4) : random.oneIn(20)
            return .acknowledge(
                number,
                position: takesPosition
                    ? max(1, state.through + Int.random(in: -2...6, using: &random)) : nil,
                replacement: random.oneIn(4) ? .random(using: &random) : nil)
        case 56..<66: return .reject(number, "no \(number)")
        case 66..<70: return .withdraw(number)
        case 70..<73: return .dismiss(number)
        case 73..<78: return .retry(number, force: random.oneIn(2))
        case 78..<95:
            let echo = kind == .downlink && random.oneIn(3)
            return echo ? .echo(of: state, using: &random) : .batch(of: state, using: &random)
        case 95..<98: return .checkpoint
        default: return .reopen
        }
    }

    /// The head of the overlay as it was recorded, which moves the border only (section 2, cost).
    private static func echo(
        of state: ReferenceLog.State, using random: inout SeededGenerator
    ) -> RandomCommand {
        let head = state.numbers(.pending, .accepted).prefix(Int.random(in: 1...3, using: &random))
        var position = state.through
        let events = head.map { number in
            position += Int.random(in: 1...2, using: &random)
            let intent = state.intents[number]!
            return ReferenceEvent(
                position: position, move: intent.replacement ?? intent.move,
                origin: ("me", number))
        }
        return .confirm(events, through: nil)
    }

    private static func batch(
        of state: ReferenceLog.State, using random: inout SeededGenerator
    ) -> RandomCommand {
        let events = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            let replica = random.oneIn(4) ? "other" : "me"
            let number = Int.random(in: 1...state.intents.count + 2, using: &random)
            return ReferenceEvent(
                position: max(1, state.through + Int.random(in: -2...5, using: &random)),
                move: random.oneIn(3)
                    ? state.intents[number]?.move ?? .random(using: &random)
                    : .random(using: &random),
                origin: random.oneIn(3) ? nil : (replica, number))
        }
        let through =
            random.oneIn(2) ? nil : max(0, state.through + Int.random(in: -1...7, using: &random))
        return .confirm(events, through: through)
    }
}

extension Move {
    static func random(using random: inout SeededGenerator) -> Move {
        guard random.oneIn(8) else { return ofOneCell(using: &random) }
        let keys = (0..<2).map { _ in ["a", "b", "c"].randomElement(using: &random)! }
        return random.oneIn(3)
            ? .replaceAll(Dictionary(keys.map { ($0, 3) }) { old, _ in old })
            : .sweep(keys[0], keys[1])
    }

    /// What leaves all other cells as they are.
    static func ofOneCell(using random: inout SeededGenerator) -> Move {
        let key = ["a", "b", "c"].randomElement(using: &random)!
        return switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: .set(key, Int.random(in: 0...9, using: &random))
        case 3..<7: .add(key, Int.random(in: 1...9, using: &random))
        case 7..<9: .claim(key)
        default: .remove(key)
        }
    }
}

extension Store where P: BoardFold {
    /// Carries the command out on a real store, and says what came of it in the reference's words.
    func carryOut(_ command: RandomCommand) async -> ReferenceLog.CommandResult {
        do throws(FoldbackError) {
            switch command {
            case .record(let move, let force, let confirmOnly, let once):
                return outcome(
                    try await record(move, force: force, confirmOnly: confirmOnly, once: once))
            case .acknowledge(let number, let position, let replacement):
                return outcome(
                    try await acknowledge(
                        IntentNumber(UInt64(number)),
                        position: position.map { Position(UInt64($0)) }, replacement: replacement))
            case .reject(let number, let message):
                return outcome(try await reject(IntentNumber(UInt64(number)), message: message))
            case .withdraw(let number): try await withdraw(IntentNumber(UInt64(number)))
            case .dismiss(let number): try await dismiss(IntentNumber(UInt64(number)))
            case .retry(let number, let force):
                return outcome(try await retry(IntentNumber(UInt64(number)), force: force))
            case .confirm(let events, let through):
                let events = events.map {
                    ConfirmedEvent(
                        position: Position(UInt64($0.position)), event: $0.move, origin: $0.id)
                }
                switch try await confirm(events, through: through.map { Position(UInt64($0)) }) {
                case .confirmed: return .appended
                case .ignored: return .ignored(nil)
                }
            case .checkpoint: try await checkpoint()
            case .reopen: break
            }
            return .appended
        } catch {
            return .refused(error.name)
        }
    }

    private func outcome(_ receipt: Receipt) -> ReferenceLog.CommandResult {
        receipt.isJoined ? .joined(Int(receipt.number.value)) : .recorded(Int(receipt.number.value))
    }

    private func outcome(_ outcome: AnswerResult) -> ReferenceLog.CommandResult {
        switch outcome {
        case .recorded: .appended
        case .ignored(let state): .ignored(state)
        }
    }
}

extension FoldbackError {
    /// The case, as the reference calls it.
    fileprivate var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
