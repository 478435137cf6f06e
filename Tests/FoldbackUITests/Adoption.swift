import Foldback
import FoldbackUI

/// The plain struct of an app that knows nothing of Foldback.
struct Person: Codable, Sendable, Equatable {
    var name: String
    var followers: Int
    var isFollowed = false
}

// adoption: begin
struct People: Projection, Itemized, Codable, Equatable {
    enum Event: Codable, Sendable { case loaded(Person), followed(String), unfollowed(String) }
    private(set) var people: [String: Person] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .loaded(let person): people[person.name] = person
        case .followed(let name): people[name]?.set(isFollowed: true)
        case .unfollowed(let name): people[name]?.set(isFollowed: false)
        }
    }

    static func items(of event: Event, _ context: EventContext) -> [ItemReference<String>] {
        switch event {
        case .loaded(let person): [ItemReference(person.name)]
        case .followed(let name), .unfollowed(let name): [ItemReference(name)]
        }
    }
}
// adoption: end

extension Person {
    mutating func set(isFollowed: Bool) {
        guard isFollowed != self.isFollowed else { return }
        self.isFollowed = isFollowed
        followers += isFollowed ? 1 : -1
    }
}
