import Foldback
import Synchronization

/// The number of a part of a model, unique in its list.
typealias PartID = Int

/// Shows what was read for a part.
typealias ShowPart = @MainActor @Sendable () -> Void

/// The parts of a model that are read with the updates, such as selections of rows and lists.
final class PartList<Part: Sendable>: Sendable {
    private struct Content {
        var nextID: PartID = 0
        var parts: [PartID: Part] = [:]
    }

    private let content = Mutex(Content())

    var parts: [PartID: Part] { content.withLock { $0.parts } }

    /// Adds a part until the returned value is released.
    func add(_ part: Part) -> Listening { join(part).membership }

    /// The same, with the part's number.
    func join(_ part: Part) -> (id: PartID, membership: Listening) {
        let id = content.withLock { content in
            content.nextID += 1
            content.parts[content.nextID] = part
            return content.nextID
        }
        let membership = Listening { [weak self] in
            self?.content.withLock { _ = $0.parts.removeValue(forKey: id) }
        }
        return (id, membership)
    }
}
