import FoldbackLMDB

/// The failures that a committed entry survives once its command has returned (L2).
public enum Durability: String, Hashable, Sendable, CaseIterable {
    /// The entry survives the end of the process and a power cut. Each commit flushes data, and
    /// then LMDB's meta page.
    case durable
    /// The entry survives the end of the process. A power cut may undo the last commit, but it
    /// never damages the log.
    ///
    /// The log then gives the sequences and intent numbers of that commit again. So call
    /// ``Store/flush()`` before a number or an event leaves the device; the outbox of FoldbackSync
    /// does that. A commit is about twice as fast as with ``durable``.
    case relaxed

    var options: Environment.Options {
        var options = Environment.Options()
        options.relaxed = self == .relaxed
        return options
    }

    /// The options of a store, which checks large tables after opening if it reads no rows.
    func options(readsRows: Bool) -> Environment.Options {
        var options = options
        if !readsRows { options.tablesCheckedLater = LogTable.checkedAfterOpening }
        return options
    }
}
