import Foldback
import FoldbackServer
import FoldbackSync
import Serving

/// A server of documents with a flaw: it traps on a new document "trap".
@main
struct TrappingServer: ServerTool {
    static func rules(_ access: SpaceAccess) -> TrappingRules { TrappingRules() }
}

struct TrappingRules: Rules {
    func decide(
        _ intent: Submission<DocumentEvent>, by account: Account, on documents: Documents,
        at time: Timestamp
    ) -> Ruling<DocumentEvent> {
        guard case .change("trap", .set, _) = intent.event else { return .accept }
        fatalError("a flaw of the rules")
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}
