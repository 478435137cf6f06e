import Foldback
import FoldbackUI

/// The plain struct of an app that knows nothing of Foldback.
struct Person: Codable, Sendable, Equatable {
    var name: String
    var followers: Int
    var isFollowed = false
}

struct People: Projection, Codable, Equatable {
    enum Event: Codable, Sendable { case loaded(Person), following(String, Bool) }
    private(set) var people: [String: Person] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .loaded(let person): people[person.name] = person
        case .following(let name, let isOn):
            if people[name]?.isFollowed == !isOn { people[name]?.followers += isOn ? 1 : -1 }
            people[name]?.isFollowed = isOn
        }
    }
}

@MainActor struct FirstScreen {
    let model: OptimisticModel<People>
    var lines: [String] { model.view.people.values.map { PersonRow(person: $0).text }.sorted() }
    func follow(_ name: String) async throws { try await model.perform(.following(name, true)) }
}

extension People: Itemized {
    static func items(of event: Event, _ context: EventContext) -> [ItemReference<String>] {
        switch event {
        case .loaded(let person): [ItemReference(person.name)]
        case .following(let name, _): [ItemReference(name)]
        }
    }
}

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

extension FirstScreen {
    /// The lines, which say what is going on.
    var linesWithStatus: [String] {
        model.view.people.values.map { person in
            PersonRow(person: person, note: model.status(of: person.name).words).text
        }.sorted()
    }
}

extension OptimisticModel {
    /// Does what a person has chosen at a row.
    func press(_ action: MarkAction, on mark: IntentMark) async throws(CommandError) {
        switch action {
        case .retry: try await retry(mark.number)
        case .dismiss: try await dismiss(mark.number)
        case .withdraw: try await withdraw(mark.number)
        }
    }
}
