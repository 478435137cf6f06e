import Foldback
import FoldbackServer
import FoldbackSync
import TestSupport

/// Rules with every kind of ruling, by the cell that a move sets.
struct BoardRules: Rules {
    /// The accounts without access.
    var refused: Set<String> = []

    func decide(
        _ intent: Submission<Move>, by account: Account, on board: Board, at time: Timestamp
    ) -> Ruling<Move> {
        switch intent.event {
        case .set("later", _): .later(after: .seconds(5), reason: "not now")
        case .add(let key, _) where key.hasPrefix("waits") && board.cells[key] == nil:
            .later(after: .milliseconds(1), reason: "\(key) is not there yet")
        case .set("no", _): .reject(Rejection(code: "no", message: "never"))
        case .set("double", let value): .reword(.set("double", 2 * value))
        case .set("nothing", _): .reword(nil)
        case .set("mine", _) where board.cells["mine"] != nil:
            .reject(Rejection(message: "\(account) comes too late"))
        default: .accept
        }
    }

    func access(of account: Account, to space: SpaceName) async -> Bool {
        !refused.contains(account.description)
    }

    func shows(_ event: Move, to account: Account) -> Bool {
        if case .set("secret", _) = event { return false }
        return true
    }
}

/// Accepts everything that applies.
struct OpenRules<State: Projection>: Rules {
    func decide(
        _ intent: Submission<State.Event>, by account: Account, on state: State, at time: Timestamp
    ) -> Ruling<State.Event> { .accept }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}

extension Account {
    static let ann = Account("ann")!
    static let ben = Account("ben")!
}

func id(_ number: UInt64, of replica: String = "a") -> IntentID {
    IntentID(replica: ReplicaID(replica)!, number: IntentNumber(number))
}

func sent(
    _ number: UInt64, _ move: Move, of replica: String = "a", lane: Int? = nil
) -> Submission<Move> {
    let plain = Submission(id: id(number, of: replica), event: move)
    return Submission(
        id: plain.id, event: move, recorded: plain.recorded, time: plain.time, info: plain.info,
        lane: lane)
}
