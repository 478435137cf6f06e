import FlyingFox
import FoldbackUI

/// What the address of a page says beside the replica.
struct PageQuery {
    let isArchive: Bool
    let policy: ProgressPolicy

    init(_ query: [HTTPRequest.QueryItem] = []) {
        isArchive = query["scene"] == "archive"
        policy = query["policy"] == "unhurried" ? .unhurried : ProgressPolicy()
    }
}
