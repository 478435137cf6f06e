import Foldback

/// What every authority of this package says in the same way.
extension SyncPoint {
    /// Checks that an authority has everything that the device has from it (N6).
    ///
    /// - Parameter digest: returns the authority's digest at a position up to `head`; nil if it has none
    ///   there. It is asked only if the device has one.
    /// - Throws: `.superseded` if the device knows another lineage, is ahead, or has another digest: nobody
    ///   can tell then how far back both have the same. The errors of `digest`.
    package func requireShared(
        with lineage: Lineage, head: Position,
        digest: (Position) throws(AuthorityFailure) -> RunningDigest? = { _ in nil }
    ) throws(AuthorityFailure) {
        if lineage.isOther(than: self.lineage) { throw .superseded(shared: 0) }
        guard through <= head else { throw .superseded(shared: head) }
        guard let known = self.digest, let own = try digest(through) else { return }
        guard own == known else { throw .superseded(shared: 0) }  // mutant: other-digest
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
