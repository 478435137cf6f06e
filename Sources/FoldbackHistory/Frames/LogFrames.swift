import Foldback

/// A log's entries in order, each with its effect on the states as JSON.
///
/// The states are those of `at --json`. A reader that applies each frame's patch to the state before
/// the entry has the state after it, except for the member `sequence`, which is the entry's. This is
/// a value: a copy continues from the same place by itself.
package struct LogFrames<P: Projection>: Sendable {
    private var replay: LogReplay<P>
    /// What is known at ``sequence``; nil if it was not asked since the last ``skip()``. A snapshot
    /// that is kept would make the fold copy its states.
    private var here: Here?

    private struct Here {
        let snapshot: Snapshot<P>
        var pending: [IntentNumber]
        var accepted: [IntentNumber]
        /// The states as JSON, if the last entry was compared as a whole.
        var described: (view: JSON?, confirmed: JSON?) = (nil, nil)
        /// The effects of the overlay's intents, if the last entry needed them.
        var effects: [IntentNumber: IntentStory<P.Event>.Effect]?
    }

    init(_ replay: LogReplay<P>) { self.replay = replay }

    /// The sequence of the last entry that was applied.
    package var sequence: LogSequence { replay.sequence }

    /// The state after the last entry that was applied.
    ///
    /// - Complexity: O(n) in both states.
    package var state: JSON { mutating get { replay.snapshot.json } }

    /// What does not fit the state after the last entry that was applied.
    package var troubles: Troubles {
        mutating get {
            Troubles(
                conflicted: replay.snapshot.conflicted, faultCount: replay.snapshot.faults.count)
        }
    }

    /// Applies the next entry, and returns what it changed; nil at the end.
    ///
    /// - Complexity: as applying the entry, and comparing the places that it touches. If it makes
    ///   the overlay fold again, two more folds of the overlay. After ``skip()``, O(n) in the
    ///   overlay.
    /// - Throws: as ``LogReplay/next()``. The frames stay at their sequence.
    package mutating func next() throws(LogError) -> LogFrame<P.Event>? {
        let before = found()
        here = before
        guard let record = try replay.nextRecord() else { return nil }
        let entry = LogEntry<P.Event>(record)
        let after = replay.snapshot
        let (old, touched) = (before.snapshot, replay.touched)
        var patch = JSONPatch()
        let view = compare(
            touched.view, "view", (old.view, before.described.view, after.view), &patch)
        let confirmed = compare(
            touched.confirmed, "confirmed",
            (old.confirmed, before.described.confirmed, after.confirmed), &patch)
        Self.compareRest(old, after, &patch)
        var now = Here(
            snapshot: after, pending: before.pending, accepted: before.accepted,
            described: (view, confirmed))
        moveIntents(of: entry, &now, &patch)
        let others = changedIntents(from: before, to: &now)
        here = now
        return LogFrame(entry: entry, patch: patch, others: others)
    }

    /// Applies the next entry without telling what it changed. Returns false at the end.
    ///
    /// - Complexity: as applying the entry.
    package mutating func skip() throws(LogError) -> Bool {
        if here != nil {
            here = nil
            replay.stopTracking()
        }
        return try replay.nextRecord() != nil
    }

    /// Returns what is known here, and tracks the places that the next entries touch.
    private mutating func found() -> Here {
        if let here { return here }
        replay.startTracking()
        let snapshot = replay.snapshot
        return Here(
            snapshot: snapshot, pending: snapshot.pending, accepted: snapshot.accepted)
    }

    // MARK: Comparing

    /// Compares the states before and after an entry at the places that it touches.
    ///
    /// - Parameter states: `described` is the JSON of the state before, if it is known.
    /// - Returns: the JSON of the state after; nil if only some places were compared.
    private func compare(
        _ places: Set<JSONPointer>?, _ name: ExactString,
        _ states: (before: P, described: JSON?, after: P), _ patch: inout JSONPatch
    ) -> JSON? {
        let root = JSONPointer([name])
        guard let places else {
            if let parts = states.before.differingParts(to: states.after) {
                for part in parts {
                    patch.change(
                        part.old, to: part.new, at: JSONPointer(root.names + part.place.names))
                }
                return nil
            }
            let old = states.described ?? JSON(describing: states.before)
            let new = JSON(describing: states.after)
            patch.change(old, to: new, at: root)
            return new
        }
        for place in Self.patchable(places, states.before, states.after) {
            patch.change(
                states.before.shown(at: place), to: states.after.shown(at: place),
                at: JSONPointer(root.names + place.names))
        }
        return places.isEmpty ? states.described : nil
    }

    /// Returns places in order, without those inside of another. A place whose parent is absent in
    /// one of the states is replaced by that parent, because a patch can only add to a value that
    /// exists.
    private static func patchable(_ places: Set<JSONPointer>, _ old: P, _ new: P) -> [JSONPointer] {
        var found: Set<JSONPointer> = []
        for var place in places {
            while let parent = place.parent, !parent.names.isEmpty,
                old.shown(at: parent) == nil || new.shown(at: parent) == nil
            {
                place = parent
            }
            found.insert(place)
        }
        var outer: [JSONPointer] = []
        for place in found.sorted() {
            if let last = outer.last, place.names.starts(with: last.names) { continue }
            outer.append(place)
        }
        return outer
    }

    private static func compareRest(
        _ before: Snapshot<P>, _ after: Snapshot<P>, _ patch: inout JSONPatch
    ) {
        if before.through != after.through {
            patch.replace(JSONPointer(["through"]), with: .of(after.through))
        }
        if before.conflicted != after.conflicted {
            patch.change(
                .of(before.conflicted), to: .of(after.conflicted), at: JSONPointer(["conflicted"]))
        }
        patch.change(
            .object(before.reasons), to: .object(after.reasons), at: JSONPointer(["reasons"]))
        let (old, new) = (before.faults, after.faults)
        guard old.count != new.count else { return }
        patch.replace(JSONPointer(["faults"]), with: .integer(Int64(new.count)))
        patch.change(
            .array(old.map(\.json)), to: .array(new.map(\.json)), at: JSONPointer(["faulted"]))
    }

    /// Moves the intents of an entry between the lists of pending and accepted intents.
    private func moveIntents(
        of entry: LogEntry<P.Event>, _ now: inout Here, _ patch: inout JSONPatch
    ) {
        let named = entry.intentNumbers + entry.origins.map(\.number)
        for number in Set(named + replay.moved).sorted() {
            let state = replay.state(of: number)
            now.pending.set(number, isThere: state == .pending, in: "pending", &patch)
            now.accepted.set(number, isThere: state == .accepted, in: "accepted", &patch)
        }
    }

    /// Returns the intents whose effect changed, if the entry made the overlay fold again or changed what is
    /// conflicted.
    private func changedIntents(
        from before: Here, to now: inout Here
    ) -> [IntentStory<P.Event>.ChangedIntent] {
        // A conflicted intent that is confirmed changes what comes after it, though the list of events
        // stays the same.
        let haveConflictsChanged = before.snapshot.conflicted != now.snapshot.conflicted
        guard replay.hasRefolded || haveConflictsChanged else { return [] }
        let effects = now.snapshot.effects(after: 0)
        now.effects = effects
        return LogReader.changedIntents(
            from: before.effects ?? before.snapshot.effects(after: 0), to: effects)
    }
}

/// What does not fit a state: the conflicted intents, and the number of events that were skipped.
package struct Troubles: Sendable {
    package let conflicted: [IntentNumber]
    package let faultCount: Int

    /// Whether an intent is conflicted that was not in the state before an entry.
    package func hasConflict(notIn before: Troubles) -> Bool {
        conflicted != before.conflicted && !Set(conflicted).isSubset(of: before.conflicted)
    }

    package func hasFault(notIn before: Troubles) -> Bool { faultCount > before.faultCount }
}

/// One entry with its effect on the states.
package struct LogFrame<Event: Sendable>: Sendable {
    package let entry: LogEntry<Event>
    /// The change of the state of `at --json`, without its member `sequence`.
    package let patch: JSONPatch
    /// Intents of the overlay whose effect changed because of the entry.
    package let others: [IntentStory<Event>.ChangedIntent]

    /// The number of changes in the view.
    package var viewChangeCount: Int {
        patch.operations.count { $0.place.names.first == "view" }
    }
}

extension LogReader {
    /// Returns the frames of the entries after `sequence`; 0 is where the log begins.
    ///
    /// - Parameter also: the log's other projections; see ``replay(_:also:from:)``.
    /// - Complexity: as ``replay(_:also:from:)``.
    /// - Throws: as ``replay(_:also:from:)``.
    package func frames<P: Projection>(
        of projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        after sequence: LogSequence
    ) throws(LogError) -> LogFrames<P> {
        LogFrames(try replay(projection, also: also, from: sequence == 0 ? nil : sequence))
    }
}

extension JSONPointer {
    /// The place that has this place; nil for the whole value.
    fileprivate var parent: JSONPointer? {
        names.isEmpty ? nil : JSONPointer(Array(names.dropLast()))
    }
}

extension [IntentNumber] {
    /// Adds or removes a number of an ascending list, and notes the operation.
    fileprivate mutating func set(
        _ number: IntentNumber, isThere: Bool, in name: ExactString, _ patch: inout JSONPatch
    ) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        let wasThere = low < count && self[low] == number
        guard wasThere != isThere else { return }
        let place = JSONPointer([name, ExactString(String(low))])
        if isThere {
            insert(number, at: low)
            patch.add(.of(number), at: place)
        } else {
            remove(at: low)
            patch.remove(place)
        }
    }
}
