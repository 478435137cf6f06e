import FoldbackLMDB

/// The failures that a committed entry survives once its command has returned (L2).
public enum Durability: String, Hashable, Sendable, CaseIterable {
    /// The entry survives the end of the process and a power cut. Each commit flushes data, and
    /// then LMDB's meta page.
    case durable
    /// The entry survives the end of the process. A power cut may undo the last commit, but it
    /// never damages the log.
    ///
    /// A commit is about twice as fast as with ``durable``. Call ``Store/flush()`` before anything
    /// leaves the device.
    case relaxed

    var options: Environment.Options {
        var options = Environment.Options()
        options.relaxed = self == .relaxed
        return options
    }
}
