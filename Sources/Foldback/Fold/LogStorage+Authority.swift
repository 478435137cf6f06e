/// What the log knows of its authority.
extension LogStorage {
    /// Returns the lineage of the authority that the log has answers from; nil if none was named
    /// yet.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func lineage() throws(FoldbackError) -> Lineage? { try row(of: Lineage.self) }

    /// Returns the finding that the authority has lost events; nil if it was not made.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func lostData() throws(FoldbackError) -> LostData? { try row(of: LostData.self) }
}
