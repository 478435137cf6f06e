import Foldback
import FoldbackSync
import FoldbackUI

extension Person: Identifiable {
    var id: String { name }
}

@MainActor final class PeopleScreen {
    let model: OptimisticModel<People>
    let list: ListModel<String, Person>
    let loading: FetchModel<Void, any Error>

    init(
        _ store: Store<People>, from server: any Authority<People.Event>,
        sources: UISources = .system
    ) {
        let sync = Sync(store, with: server, policy: .ordered)
        let model = OptimisticModel(store, sources: sources)
        self.model = model
        list = ListModel(of: model) { list, people in
            list.section("people")
            list.items(people.people.values.sorted { $0.name < $1.name })
        }
        loading = FetchModel(Wait("loading people"), cues: model.cues, sources: sources) { _ in
            switch try await sync.fetch() {
            case .caughtUp: await model.adoptCommits()
            case .failed(let failure): throw failure
            default: throw CancellationError()
            }
        }
    }
}

extension PeopleScreen {
    /// The people of the log, if it has any. If not, what the request says.
    var people: RemoteData<ListSnapshot<String, Person>, any Error> {
        let shown = list.snapshot
        return loading.data(known: shown.rowCount > 0 ? shown : nil, absent: shown)
    }

    /// The rows to show. Before there is anything to show, placeholders.
    var snapshot: ListSnapshot<String, Person> {
        switch people {
        case .notAsked, .loading: .placeholders(count: 3, in: "people")
        case .failure: ListSnapshot()
        case .success(let list): list
        }
    }

    var lines: [String] {
        if people.success?.rowCount == 0 { return ["There is nobody yet"] }
        return snapshot.sections.flatMap(\.rows).map { row in
            guard let person = row.content else { return "…" }
            return PersonRow(person: person, note: row.status.words).text
        }
    }
}

extension PeopleScreen {
    /// The line above the list; nil for none.
    var notice: String? {
        loading.progress.appearance?.text.map { ProgressTexts.english.words(for: $0) }
    }

    func press(_ action: WaitAction) { loading.perform(action) }
}

extension FoldbackSync.AuthorityFailure: FoldbackUI.ExplainedError {
    /// What people read about a request without a usable answer.
    public var recovery: Recovery? {
        switch self {
        case .unavailable: Recovery(cause: .serverBusy(until: nil))
        case .unauthenticated: Recovery(cause: .signedOut)
        case .failed, .invalidAnswer: Recovery(cause: .failing(reason: "The server has failed"))
        case .superseded: Recovery(reason: reason, canRestart: false)
        default: Recovery()  // unreachable: "Check the connection, then try again."
        }
    }
}

extension PeopleScreen {
    /// Asks to follow a person who has to agree.
    func ask(_ name: String, in progress: ProgressModel) async throws(IntentFailure) {
        let wait = Wait("asking", presentation: .obstructive(.items(name)), isDurable: true)
        try await model.perform(confirmOnly: .following(name, true), showing: wait, in: progress)
    }
}

extension PeopleScreen {
    /// Tells the answers after an entry, each with the entry to keep for the next start. It returns
    /// when the store is closed.
    func tellAnswers(
        after kept: LogSequence, _ tell: @MainActor (String, LogSequence) -> Void
    ) async throws {
        for try await news in model.news(after: kept) {
            guard case .following(let name, _)? = news.event else { continue }
            switch news.answer.content {
            case .confirmed: tell("\(name) agrees", news.continueAfter)
            case .rejected(let rejection): tell(rejection.message, news.continueAfter)
            default: continue
            }
        }
    }
}
