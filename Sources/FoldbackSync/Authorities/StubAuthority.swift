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
    private let lineage: Lineage?
    private let head: Position?

    /// - Parameters:
    ///   - answers: the answers to the first requests, in order.
    ///   - rest: the answer to all other requests.
    ///   - pages: the first pages of ``changes(after:)``, in order. Later pages are empty.
    ///   - lineage: the lineage in answers to requests, and in later pages.
    ///   - head: the highest position in answers to requests, and in later pages.
    public init(
        _ answers: [Answer], rest: Answer = .accept, pages: [Changes<Event>] = [],
        lineage: Lineage? = nil, head: Position? = nil
    ) {
        self.lineage = lineage
        self.head = head
        calls = Mutex(Calls(answers: answers[...], pages: pages[...]))
        self.rest = rest
    }

    /// The submitted requests, each with its intents.
    public var submitted: [[Submission<Event>]] { calls.withLock { $0.submitted } }

    /// The positions of all calls of ``changes(after:)``.
    public var asked: [Position] { calls.withLock { $0.asked } }

    public func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
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
        return Verdicts(verdicts, lineage: lineage, head: head)
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Event> {
        calls.withLock { calls in
            calls.asked.append(device.through)
            return calls.pages.popFirst()
                ?? Changes(
                    events: [], through: device.through, hasMore: false, lineage: lineage,
                    head: head)
        }
    }
}
