import Foldback
import FoldbackExamples

/// One step of the story as a value: its moments, and what the screen must show at each.
struct Step: Sendable {
    let title: String
    /// One or two sentences about what happens.
    let scene: String
    let moments: [Moment]
    /// Why the moments must look like this: one sentence, with the rule.
    let rule: String
}

/// Some acts, and the state that the device must have after them.
struct Moment: Sendable {
    let caption: String
    var acts: [Act] = []
    /// The posts that changed since the moment before. All others must be the same.
    var posts: [String: Post] = [:]
    var followers: [String: Set<String>] = [:]
    /// The whole overlay.
    var overlay: [IntentNumber: Mark] = [:]
    /// Rejections that are new in the list, and nil for rejections that left it.
    var rejections: [IntentNumber: Rejection?] = [:]
}

/// An act that can happen in the story.
enum Act: Sendable {
    /// Mia records an intent.
    case mia(FeedAction, once: String? = nil, confirmOnly: Bool = false)
    /// Mia retries a rejected intent.
    case retries(IntentNumber)
    /// Another user acts on their own device.
    case other(String, FeedAction)
    /// Mia's intents reach the authority, which decides them. Its answers are on their way.
    case arrive([IntentNumber])
    /// The authority's answers to these intents arrive, in this order.
    case answered([IntentNumber])
    /// The downlink delivers all confirmed events.
    case downlink
    /// The store is closed, which loses the answers on their way, and the log is opened again.
    case reopened
}

/// How an intent in the overlay relates to the view.
enum Mark: Hashable, Sendable, CustomStringConvertible {
    case folded(IntentState)
    /// Confirm-only: not folded before it is confirmed (F13).
    case waiting(IntentState)
    /// Left out of the view, with the reason why it does not apply (F9).
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
