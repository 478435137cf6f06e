import Foldback
import Synchronization

/// An authority with canned answers, which records the requests: for tests of an app's reaction to
/// answers.
public final class StubAuthority<Event: Sendable>: Authority {
    /// An answer to one request.
    public enum Answer: Sendable {
        /// Accepts all intents, without positions.
        case accept
        /// Verdicts by intent number. Other intents get no verdict.
        case verdicts([IntentNumber: Verdict<Event>])
        case fail(AuthorityFailure)
    }

    private struct Calls {
        var answers: ArraySlice<Answer>
        var pages: ArraySlice<Changes<Event>>
        var submitted: [[Submission<Event>]] = []
        var asked: [Position] = []
    }

    private let calls: Mutex<Calls>
    private let rest: Answer

    /// - Parameters:
    ///   - answers: the answers to the first requests, in order.
    ///   - rest: the answer to all other requests.
    ///   - pages: the first pages of ``changes(after:)``, in order. Later pages are empty.
    public init(
        _ answers: [Answer], rest: Answer = .accept, pages: [Changes<Event>] = []
    ) {
        calls = Mutex(Calls(answers: answers[...], pages: pages[...]))
        self.rest = rest
    }

    /// The submitted requests, each with its intents.
    public var submitted: [[Submission<Event>]] { calls.withLock { $0.submitted } }

    /// The positions of all calls of ``changes(after:)``.
    public var asked: [Position] { calls.withLock { $0.asked } }

    public func submit(
        _ intents: [Submission<Event>]
    ) async throws(AuthorityFailure) -> [IntentID: Verdict<Event>] {
        let answer = calls.withLock { calls in
            calls.submitted.append(intents)
            return calls.answers.popFirst() ?? rest
        }
        var verdicts: [IntentID: Verdict<Event>] = [:]
        for intent in intents {
            switch answer {
            case .accept: verdicts[intent.id] = .accepted(position: nil, replacement: nil)
            case .verdicts(let canned): verdicts[intent.id] = canned[intent.id.number]
            case .fail(let failure): throw failure
            }
        }
        return verdicts
    }

    public func changes(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<Event> {
        calls.withLock { calls in
            calls.asked.append(position)
            return calls.pages.popFirst()
                ?? Changes(events: [], through: position, hasMore: false)
        }
    }
}
