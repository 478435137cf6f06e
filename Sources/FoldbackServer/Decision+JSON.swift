import Foldback

/// The form in which tools show the events of a space's log, whose bytes are not text.
///
/// `{"accepted":{…},"account":"ann","position":2}`; `reworded` in place of `accepted` if the effect is not
/// the device's event, with null if there is none; `rejected` with message and code. A page shows the
/// decisions of each account in a row.
extension DecisionEvent: AttributedEvent {
    package static var actorNoun: String { "account" }

    package var attribution: Attribution? {
        guard case .decided(let decision) = self else { return nil }
        let outcome: Attribution.Outcome =
            switch decision.outcome {
            case .accepted: .accepted
            case .reworded: .reworded
            case .rejected: .rejected
            }
        return Attribution(actor: "\(decision.account)", outcome: outcome)
    }

    package var json: JSON {
        switch self {
        case .founded(let founding):
            var json: JSON.Object = [
                "founded": .string("\(founding.lineage)"),
                "replica": .string("\(founding.replica)"),
            ]
            json["timeline"] = founding.timeline.map { .integer(Int64($0)) }
            json["loss"] = founding.loss.map { .string($0) }
            return .object(json)
        case .decided(let decision):
            var json: JSON.Object = [
                "account": .string("\(decision.account)"), "position": .of(decision.position),
            ]
            switch decision.outcome {
            case .accepted(let effect): json["accepted"] = effect.json
            case .reworded(let effect): json["reworded"] = effect?.json ?? .null
            case .rejected(let rejection):
                var reason: JSON.Object = ["message": .string(rejection.message)]
                reason["code"] = rejection.code.map { .string($0) }
                json["rejected"] = .object(reason)
            }
            return .object(json)
        }
    }
}

/// Tools show the app's own state, so that a place is the same in the logs of devices and of the server.
/// Whose data it is, the entries say.
extension Decided: JSONRepresentable, MembersByName {
    package var json: JSON { JSON(describing: state) }

    package func member(named name: ExactString) -> Any?? {
        if let members = state as? any MembersByName { return members.member(named: name) }
        let mirror = Mirror(reflecting: state)
        guard mirror.displayStyle == .struct, !(state is any JSONRepresentable) else { return nil }
        return mirror.children.first { $0.label == name.string }.map { .some($0.value) }
    }
}

extension Effect {
    /// The event as it was recorded, or as this code reads it if its bytes are not JSON.
    fileprivate var json: JSON {
        recorded.format.codec == EventFormat.json.codec
            ? JSON(logged: recorded.bytes) : JSON(describing: event)
    }
}
