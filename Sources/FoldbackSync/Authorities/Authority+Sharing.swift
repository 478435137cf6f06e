import Foldback

/// What every authority of this package says in the same way.
extension SyncPoint {
    /// Checks that an authority has everything that the device has from it (N6).
    ///
    /// - Throws: `.superseded` if the device knows another lineage, or is ahead.
    package func requireShared(
        with lineage: Lineage, head: Position
    ) throws(AuthorityFailure) {
        if lineage.isOther(than: self.lineage) { throw .superseded(shared: 0) }
        guard through <= head else { throw .superseded(shared: head) }
    }
}

extension Rejection {
    /// For an id that came with another event before (A1).
    package static func idReused(_ id: IntentID) -> Rejection {
        Rejection(
            code: "id-reused", message: "intent \(id) arrived earlier with a different event")
    }

    /// For an event whose `apply` threw. The error's words are cut to what a log can keep.
    package static func inapplicable(_ error: any Error) -> Rejection {
        Rejection(
            code: "inapplicable", message: error.words.cut(toBytes: Limits.messageBytesMax))
    }
}

extension Verdict {
    /// Whether the verdict stays the same when the intent comes again (A1).
    package var isFinal: Bool { if case .later = self { false } else { true } }
}
