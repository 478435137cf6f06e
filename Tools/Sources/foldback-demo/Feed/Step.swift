import Foldback
import FoldbackExamples

/// One step of the story, as a value: what it is about, what happens moment by moment, and what must
/// then be seen.
struct Step: Sendable {
    let title: String
    /// What Mia does.
    let scene: String
    let moments: [Moment]
    /// Why it must be so: one sentence, with its rule.
    let rule: String
}

/// Something happens, and then the screen is looked at.
struct Moment: Sendable {
    let caption: String
    var acts: [Act] = []
    /// Rows of the view that are different from the moment before. All others must be as they were.
    var posts: [String: Post] = [:]
    var followers: [String: Set<String>] = [:]
    /// The whole overlay.
    var overlay: [IntentNumber: Mark] = [:]
    /// Rejections that are new in the list, and nil for those that have left it.
    var rejections: [IntentNumber: Rejection?] = [:]
}

/// Everything that can happen in the story.
enum Act: Sendable {
    case mia(Deed, once: String? = nil, confirmOnly: Bool = false)
    /// Mia tries a rejected intent again.
    case retries(IntentNumber)
    /// Somebody else, on a device of their own.
    case other(String, Deed)
    /// Mia's intents are sent and reach the authority, which decides on them; its answers take long.
    case arrive([IntentNumber])
    /// Its answers to these arrive, in this order.
    case answered([IntentNumber])
    /// All that has happened comes down.
    case downlink
    /// The store is closed, whereby answers under way are lost, and the log opened again.
    case reopened
}

/// How an intent in the overlay relates to the view.
enum Mark: Hashable, Sendable, CustomStringConvertible {
    case folded(IntentState)
    /// Confirm-only: not before the server's word (F13).
    case waiting(IntentState)
    /// With the reason why it does not apply (F9).
    case conflicted(IntentState, String)

    static let pending = Mark.folded(.pending)
    static let accepted = Mark.folded(.accepted)

    init(_ intent: OverlayIntent<FeedEvent>, in snapshot: Snapshot<Feed>) {
        if let reason = snapshot.conflict(of: intent.number) {
            self = .conflicted(intent.state, reason)
        } else {
            self = intent.isConfirmOnly ? .waiting(intent.state) : .folded(intent.state)
        }
    }

    var description: String {
        switch self {
        case .folded(let state): state.rawValue
        case .waiting(let state): "\(state.rawValue), confirm-only"
        case .conflicted(let state, let reason): "\(state.rawValue), conflicted: \(reason)"
        }
    }
}
