/// The replica id of a log that is created.
///
/// ```swift
/// let store = try await Store.open(
///     at: directory, Likes.self, confirmedBy: .downlink, durability: .durable,
///     replica: .named("phone"))
/// print(store.status.replica)  // phone-7c9e6679-7425-40de-944b-e07fc1f90ae7
/// ```
///
/// An intent's id is the replica id with a number that begins at 1 in each log. The server
/// deduplicates by it (A1). So a replica id must not be used by two logs, not even if the first log
/// was deleted: the server would take a new intent for an old intent. ``random`` and ``named(_:)``
/// make sure of that.
public enum NewReplica: Hashable, Sendable {
    /// A random UUID.
    case random
    /// The name, a hyphen, and a random UUID. The name has at most 218 bytes of UTF-8. Use it to
    /// recognize devices in the server's logs.
    case named(String)
    /// This id, and nothing else. Ids of intents repeat if a log with this id was deleted. For
    /// tests and tools.
    case exactly(ReplicaID)

    /// Returns the id for a new log.
    ///
    /// - Throws: `.tooLarge` if the name is too long.
    package func id(_ fresh: () -> ReplicaID) throws(LogError) -> ReplicaID {
        switch self {
        case .random: return fresh()
        case .exactly(let id): return id
        case .named(let name):
            let unique = "-\(fresh())"  // mutant: unique-replica
            guard let id = ReplicaID(name + unique) else {
                throw .tooLarge(
                    what: "the replica's name", bytes: name.utf8.count,
                    bytesMax: 255 - unique.utf8.count)
            }
            return id
        }
    }
}
