import Foldback
import Synchronization

/// How to decide on an intent. A person at the stage chooses it.
enum StageRuling: Hashable, Sendable {
    /// By the rules of the feed.
    case byRules
    /// Accept a comment or a post with other words.
    case reword(String)
    case reject(String)

    /// Whether the verdict does not depend on other intents.
    var isRejection: Bool { if case .reject = self { true } else { false } }
}

/// What a person has chosen for the next decisions. The rules of the feed read it.
///
/// So these rules depend on more than their arguments. Each intent is still decided once: the log keeps the
/// decision with its effect, and nothing asks the rules about this intent again. They are asked again only
/// if a decision could not be written, and then nobody has seen it.
final class Choices: Sendable {
    private struct State {
        var rulings: [IntentID: StageRuling] = [:]
        var reach: Int?
    }

    private let state = Mutex(State())

    /// The reach of each next boost; nil to compute it from the likes.
    var reach: Int? {
        get { state.withLock { $0.reach } }
        set { state.withLock { $0.reach = newValue } }
    }

    func ruling(on intent: IntentID) -> StageRuling {
        state.withLock { $0.rulings[intent] ?? .byRules }
    }

    /// Keeps a ruling until the intent is decided.
    func choose(_ ruling: StageRuling, on intent: IntentID) {
        state.withLock { $0.rulings[intent] = ruling }
    }

    /// Forgets the ruling on an intent that is decided now.
    func forget(_ intent: IntentID) { state.withLock { $0.rulings[intent] = nil } }
}
