import Foldback

extension Snapshot {
    /// The states and the overlay as the command line prints them with `at --json`.
    ///
    /// `reasons` has a member for each conflicted intent, and `faulted` an element for each fault.
    ///
    /// - Complexity: O(n) in both states.
    package var json: JSON {
        [
            "sequence": .of(sequence), "through": .of(through),
            "view": JSON(describing: view), "confirmed": JSON(describing: confirmed),
            "pending": .of(pending), "accepted": .of(accepted), "conflicted": .of(conflicted),
            "reasons": .object(reasons), "faults": .integer(Int64(faults.count)),
            "faulted": .array(faults.map(\.json)),
        ]
    }

    /// Why each conflicted intent does not apply, by number.
    var reasons: JSON.Object {
        var reasons = JSON.Object()
        for number in conflicted {
            reasons[ExactString("\(number)")] = .string(conflict(of: number) ?? "")
        }
        return reasons
    }
}

extension Fault {
    var json: JSON { ["entry": .of(sequence), "reason": .string(reason)] }
}
