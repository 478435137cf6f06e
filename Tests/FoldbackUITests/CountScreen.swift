import Foldback
import FoldbackUI

/// The names of the people who are followed. They may be many, so they are rows.
struct Followed: StoredProjection {
    static let names = RowTable("names", key: String.self, row: Bool.self)
    static let schema = RowSchema(names)

    static func apply(
        _ event: People.Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .following(let name, let isOn) = event else { return }
        if isOn {
            try rows.put(true, at: name, in: names)
        } else {
            try rows.remove(name, from: names)
        }
    }
}

@MainActor struct CountScreen {
    let model: OptimisticModel<People>
    let followed: RowSelection<Int>

    init(_ store: Store<People>) {
        model = OptimisticModel(store)
        followed = RowsModel(store, showing: Followed.self).select { rows in
            try rows.count(of: Followed.names)
        }
    }

    var line: String {
        switch followed.value {
        case .success(let count): "\(count) of \(model.view.people.count) followed"
        case .failure(let error): "\(error)"
        case .notAsked, .loading: "…"
        }
    }
}
