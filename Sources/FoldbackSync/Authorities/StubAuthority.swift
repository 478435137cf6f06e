import Foldback
import Synchronization

/// An authority with answers from a tin, which notes what it was asked: for tests of what an app does
/// with them.
public final class StubAuthority<Event: Sendable>: Authority {
    /// An answer to one request.
    public enum Answer: Sendable {
        /// Accepts all of it, without positions.
        case accept
        /// By number; what is not named here stays without a verdict.
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
    ///   - answers: to the first requests, in their order.
    ///   - rest: to all others.
    ///   - pages: of the downlink, in their order; then there is nothing new.
    public init(
        _ answers: [Answer], rest: Answer = .accept, pages: [Changes<Event>] = []
    ) {
        calls = Mutex(Calls(answers: answers[...], pages: pages[...]))
        self.rest = rest
    }

    /// The requests that came, each with its intents.
    public var submitted: [[Submission<Event>]] { calls.withLock { $0.submitted } }

    /// The positions behind which was asked for changes.
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
