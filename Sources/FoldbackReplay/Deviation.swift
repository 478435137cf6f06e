#if ReplayTool
    import Foldback
    import FoldbackHistory

    extension TypedView {
        /// Returns the first place where two histories with the same number of entries behave
        /// differently: in a fault, a conflict or the state of an intent. At the end it also
        /// compares the shape of the states, without their texts and numbers.
        ///
        /// - Returns: nil if they behave the same.
        func deviation(
            of new: RecordedHistory<[UInt8]>, from old: RecordedHistory<[UInt8]>
        ) throws -> String? {
            let (old, new) = (old.read(by: P.codec), new.read(by: P.codec))
            var others = try new.snapshots(of: P.self, also: also)
            for snapshot in try old.snapshots(of: P.self, also: also) {
                guard let other = others.next() else { return "it has fewer entries" }
                if let change = Self.change(snapshot, other) {
                    return "after entry \(snapshot.sequence) \(change)"
                }
            }
            let a = try old.snapshot(of: P.self, also: also)
            let b = try new.snapshot(of: P.self, also: also)
            func isShaped(_ a: P, _ b: P) -> Bool {
                JSON(describing: a).shape == JSON(describing: b).shape
            }
            if !isShaped(a.view, b.view) { return "at the end the view has another shape" }
            if !isShaped(a.confirmed, b.confirmed) {
                return "at the end confirmed state has another shape"
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
        /// The structure of the value, without its contents, the names of members or their order.
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
