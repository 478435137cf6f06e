import Foldback
import FoldbackServer
import FoldbackSync
import Serving

/// A server of documents: it accepts each change that applies.
@main
struct DocumentServer: ServerTool {
    static func rules(_ access: SpaceAccess) -> DocumentRules { DocumentRules(access: access) }
}

struct DocumentRules: Rules {
    let access: SpaceAccess

    func decide(
        _ intent: Submission<DocumentEvent>, by account: Account, on documents: Documents,
        at time: Timestamp
    ) -> Ruling<DocumentEvent> { .accept }

    func access(of account: Account, to space: SpaceName) async -> Bool {
        access.allows(account, space)
    }
}
