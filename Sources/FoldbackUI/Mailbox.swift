import Synchronization

/// Takes what happens on any task to its receiver, in bounded space: what the receiver has not taken
/// yet is one content, to which more is added.
final class Mailbox<Content: Sendable>: Sendable {
    private let content = Mutex<Content?>(nil)

    /// Adds to the content, which is nil if the receiver has taken everything. Returns whether it was
    /// nil.
    @discardableResult func add(_ change: (inout Content?) -> Void) -> Bool {
        content.withLock { content in
            let wasEmpty = content == nil
            change(&content)
            return wasEmpty
        }
    }

    /// Returns and removes the content; nil if there is none, or if `isWanted` returns false for it.
    func take(if isWanted: (Content) -> Bool = { _ in true }) -> Content? {
        content.withLock { content in
            guard let present = content, isWanted(present) else { return nil }
            content = nil
            return present
        }
    }

    var isEmpty: Bool { content.withLock { $0 == nil } }
}
