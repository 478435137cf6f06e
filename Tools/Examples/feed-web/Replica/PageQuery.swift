import FoldbackUI

/// What the address of a page says beside the replica.
struct PageQuery: Hashable, Sendable {
    var isArchive = false
    var isUnhurried = false

    var policy: ProgressPolicy { isUnhurried ? .unhurried : ProgressPolicy() }
}
