import Foldback
import FoldbackHistory

/// P16: the parts of keys show every difference.
///
/// `rerun` looks at an entry only if a part of a key that it touches differs between the two
/// versions, or differed before. It misses nothing if these hold:
///
/// 1. An event changes only the parts of the keys that it touches.
/// 2. Two states that differ at a place that an event changes differ in the part of a key that the
///    event touches. The two can be states of one version or of two (``Versions``).
///
/// An event without keys may touch any key, so nothing is checked for it.
extension Trial {
    /// Returns nil if the projection has no parts.
    func partsShowDifferences() -> Violation? {
        (self as Any as? any PartedTrial)?.differenceWithoutPart()
    }
}

private protocol PartedTrial {
    func differenceWithoutPart() -> Violation?
}

extension Trial: PartedTrial where P: TraceableProjection {
    fileprivate func differenceWithoutPart() -> Violation? {
        guard P.Part.self != Never.self else { return nil }
        let states = partedStates
        let keys = Set(foldings.flatMap { Self.keys(of: $0) })
        for folding in foldings where folding.failure == nil {
            let touched = Self.keys(of: folding)
            guard !touched.isEmpty else { continue }
            if let violation = Self.changeOfOtherPart(folding, touched, among: keys) {
                return violation
            }
            let after = Described(folding.after)
            let places = Described(folding.before).json.differences(to: after.json).map(\.place)
            for state in [Described(folding.before)] + states {
                let hidden = places.first { place in
                    state.json[at: place] != after.json[at: place]
                        && touched.allSatisfy {
                            state.state.part(at: $0) == after.state.part(at: $0)
                        }
                }
                guard let hidden else { continue }
                let event = StateText.inline(folding.event, lengthMax: 200)
                return Violation(
                    .p16, "hidden",
                    "\(event) changes \(hidden). Two states differ there, but part(at:) returns "
                        + "equal parts for the keys that the event touches, \(Self.text(touched)).",
                    expected: ("a state", state.state), found: ("another state", after.state))
            }
            if let violation = Self.differenceOfVersions(folding, places, touched) {
                return violation
            }
        }
        return nil
    }

    /// A state with its description.
    private struct Described {
        let state: P
        let json: JSON

        init(_ state: P) {
            self.state = state
            json = JSON(describing: state)
        }
    }

    /// A few states of the script, with which each changed state is compared.
    private var partedStates: [Described] {
        let distance = max(1, modelSteps.count / 3)
        let steps = stride(from: modelSteps.count - 1, through: 0, by: -distance)
        let states = steps.flatMap { [modelSteps[$0].state.view, modelSteps[$0].state.confirmed] }
        return ([P()] + states).map { Described($0) }
    }

    private static func changeOfOtherPart(
        _ folding: ReferenceLog<P>.Folding, _ touched: Set<P.Key>, among keys: Set<P.Key>
    ) -> Violation? {
        let changed = keys.subtracting(touched).first {
            folding.before.part(at: $0) != folding.after.part(at: $0)
        }
        guard let changed else { return nil }
        let event = StateText.inline(folding.event, lengthMax: 200)
        return Violation(
            .p16, "key",
            "\(event) changes the part of the key \(StateText.inline(changed)), which "
                + "keys(touchedBy:) does not name.",
            expected: ("before", folding.before), found: ("after", folding.after))
    }

    /// Compares the two versions of ``Versions`` after an event, at the places that it changes.
    private static func differenceOfVersions(
        _ folding: ReferenceLog<P>.Folding, _ places: [JSONPointer], _ touched: Set<P.Key>
    ) -> Violation? {
        guard let pair = folding.after as? any VersionComparing,
            let place = pair.hiddenDifference(
                at: places.map { JSONPointer(Array($0.names.dropFirst())) },
                keys: touched.map { AnyHashable($0) })
        else { return nil }
        let event = StateText.inline(folding.event, lengthMax: 200)
        return Violation(
            .p16, "versions",
            "\(event) changes \(place). The two versions differ there after it, but part(at:) of "
                + "both returns equal parts for the keys that the event touches, \(text(touched)).",
            expected: ("before", folding.before), found: ("after", folding.after))
    }

    private static func keys(of folding: ReferenceLog<P>.Folding) -> Set<P.Key> {
        Set(P.keys(touchedBy: folding.event, folding.context))
    }

    private static func text(_ keys: Set<P.Key>) -> String {
        keys.map { StateText.inline($0) }.sorted().joined(separator: ", ")
    }
}
