import Foldback
import FoldbackSync
import FoldbackUI

extension ItemStatus {
    /// What a row says about the intents of its item.
    var words: String {
        switch worst {
        case nil: ""
        case .accepted, .pending: ", sending"
        case .conflicted(let reason): ", not possible now: \(reason)"
        case .rejected(let rejection): ", refused: \(rejection.message)"
        }
    }
}

@MainActor final class PeopleScreen {
    let model: OptimisticModel<People>
    let list: ListModel<String, Person>
    let loading: FetchModel<Void, any Error>

    init(
        _ store: Store<People>, from server: any Authority<People.Event>,
        sources: UISources = .system
    ) {
        let downlink = Downlink(store, from: server, policy: .ordered)
        model = OptimisticModel(store, sources: sources)
        list = ListModel(of: model) { list, people in
            list.section("people")
            list.items(people.people.values.sorted { $0.name < $1.name })
        }
        loading = FetchModel(Wait("loading people"), cues: model.cues, sources: sources) { _ in
            if case .failed(let failure) = try await downlink.fetch() { throw failure }
        }
    }
}

extension PeopleScreen {
    /// The list of the log, if it has anyone. Before the first answer, placeholders.
    var snapshot: ListSnapshot<String, Person> {
        let people = list.snapshot
        return switch loading.data(known: people.rowCount > 0 ? people : nil, absent: people) {
        case .notAsked, .loading: .placeholders(count: 3, in: "people")
        case .failure: ListSnapshot()
        case .success(let list): list
        }
    }

    var lines: [String] {
        snapshot.sections.flatMap(\.rows).map { row in
            guard let person = row.content else { return "…" }
            return PersonRow(person: person, note: row.status.words).text
        }
    }
}

extension PeopleScreen {
    func press(_ action: MarkAction, on mark: IntentMark) async throws(FoldbackError) {
        switch action {
        case .retry: try await model.retry(mark.number)
        case .dismiss: try await model.dismiss(mark.number)
        case .withdraw: try await model.withdraw(mark.number)
        }
    }
}

extension PeopleScreen {
    /// The line above the list; nil for none.
    var notice: String? {
        loading.progress.appearance?.text.map { ProgressTexts.english.words(for: $0) }
    }

    func press(_ action: WaitAction) {
        switch action {
        case .restart: loading.refresh()
        case .cancel, .continueInBackground: loading.cancel()
        }
    }
}
