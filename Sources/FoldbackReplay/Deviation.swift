#if ReplayTool
    import Foldback
    import FoldbackHistory

    extension TypedView {
        /// Where a history of as many entries first means something else than another: a fault, a conflict, what
        /// becomes of intents; at the end also the shape of states, whatever texts and numbers are in them.
        ///
        /// - Returns: nil where it means the same.
        func deviation(
            of new: RecordedHistory<[UInt8]>, from old: RecordedHistory<[UInt8]>
        ) -> String? {
            let (old, new) = (old.read(by: P.codec), new.read(by: P.codec))
            var others = new.snapshots(of: P.self)
            for snapshot in old.snapshots(of: P.self) {
                guard let other = others.next() else { return "it has fewer entries" }
                if let change = Self.change(snapshot, other) {
                    return "behind entry \(snapshot.sequence) \(change)"
                }
            }
            let (a, b) = (old.snapshot(of: P.self), new.snapshot(of: P.self))
            func isShaped(_ a: P, _ b: P) -> Bool {
                JSON(describing: a).shape == JSON(describing: b).shape
            }
            if !isShaped(a.view, b.view) { return "in the end the view has another shape" }
            if !isShaped(a.confirmed, b.confirmed) {
                return "in the end confirmed state has another shape"
            }
            return nil
        }

        private static func change(_ old: Snapshot<P>, _ new: Snapshot<P>) -> String? {
            if old.faults.map(\.sequence) != new.faults.map(\.sequence) {
                let reason = new.faults.last.map { ": \($0.reason)" } ?? ""
                return "there are \(new.faults.count) faults, not \(old.faults.count)\(reason)"
            }
            for number in new.conflicted where old.conflict(of: number) == nil {
                return "intent \(number) is conflicted: \(new.conflict(of: number) ?? "")"
            }
            for number in old.conflicted where new.conflict(of: number) == nil {
                return "intent \(number) is no longer conflicted"
            }
            return old.pending == new.pending && old.accepted == new.accepted
                ? nil : "other intents are pending or accepted"
        }
    }

    extension JSON {
        /// How it is built, without what is in it and in which order: names may be others.
        fileprivate var shape: String {
            switch self {
            case .null: "-"
            case .bool: "b"
            case .integer, .double, .digits: "n"
            case .string: "s"
            case .array(let elements): "[\(elements.map(\.shape).sorted().joined())]"
            case .object(let object): "{\(object.members.map(\.value.shape).sorted().joined())}"
            }
        }
    }
#endif
