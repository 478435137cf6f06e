// Table `kept`: the key is a sequence, the value is a record that is not in `entries` any more (C4).

// MARK: Read

extension LogStorage {
    /// The last entry that was removed; 0 if the log has all of its entries.
    package var baseSequence: LogSequence { base?.sequence ?? 0 }

    /// Checks that the log has the view after an entry.
    ///
    /// - Throws: `.compacted`.
    func requireView(at sequence: LogSequence) throws(LogError) {
        guard let base, sequence < base.sequence else { return }
        throw .compacted(path: path, through: base.sequence)
    }

    /// Checks that the log has the entries from this one on.
    ///
    /// - Throws: `.compacted`.
    package func requireEntries(from sequence: LogSequence) throws(LogError) {
        guard let base, sequence <= base.sequence else { return }
        throw .compacted(path: path, through: base.sequence)
    }
}
