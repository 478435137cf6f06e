import FoldbackLMDB

/// What returning from a command promises (L2).
public enum Durability: String, Hashable, Sendable, CaseIterable {
    /// Survives the end of the process and a power cut: each commit flushes data, then LMDB's meta
    /// page.
    case durable
    /// Survives the end of the process; a power cut may undo the last commit, never the log's
    /// integrity. About twice as fast; ``Store/flush()`` before anything leaves the device.
    case relaxed

    var options: Environment.Options {
        var options = Environment.Options()
        options.relaxed = self == .relaxed
        return options
    }
}
