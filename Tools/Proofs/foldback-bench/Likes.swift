import Foldback
import FoldbackUI
import HashTreeCollections
import Synchronization

/// The likes of posts as a persistent dictionary: the state of a view whose items have marks.
struct Likes: Projection, Itemized, Equatable {
    enum Event: Equatable, Sendable {
        /// Adds posts with the ids from 0 up.
        case filled(count: Int)
        case liked(Int)
    }

    private(set) var counts = TreeDictionary<Int, Int>()

    static var codec: any EventCodec<Event> {
        PackedCodec(LikeBytes(), as: EventFormat(codec: 130, version: 1))
    }

    mutating func apply(_ event: Event, _ context: EventContext) {
        switch event {
        case .filled(let count): for post in 0..<count { counts[post] = 0 }
        case .liked(let post): counts[post, default: 0] += 1
        }
    }

    static func items(of event: Event, _ context: EventContext) -> [ItemReference<Int>] {
        itemReads.add(1, ordering: .relaxed)
        switch event {
        case .filled: return []
        case .liked(let post): return [ItemReference(post)]
        }
    }

    /// How often the items of an event were read so far.
    static let itemReads = Atomic(0)
}

private struct LikeBytes: ByteCodec {
    func encode(_ event: Likes.Event, into output: inout OutputBuffer) {
        switch event {
        case .filled(let count):
            output.append(0 as UInt8)
            output.append(count)
        case .liked(let post):
            output.append(1 as UInt8)
            output.append(post)
        }
    }

    func decode(_ bytes: RawSpan) throws -> Likes.Event {
        var cursor = InputCursor()
        let isLiked = try cursor.number(UInt8.self, in: bytes) == 1
        let number: Int = try cursor.number(in: bytes)
        try cursor.requireEnd(of: bytes)
        return isLiked ? .liked(number) : .filled(count: number)
    }
}

extension Workbench {
    /// Calls `body` with a store of posts that are confirmed. It is in memory and relaxed, so that no
    /// flush hides a cost, and has no checkpoints, because they would be written during a
    /// measurement.
    func withLikes<R>(
        ofPosts count: Int, _ body: (Store<Likes>) async throws -> R
    ) async throws -> R {
        try await withDirectory(on: .memory) { directory in
            let store = try await Store.open(
                at: directory, Likes.self, confirmedBy: .acknowledgement, durability: .relaxed,
                checkpoints: .manual)
            try await store.acknowledge(try await store.record(.filled(count: count)).number)
            let result = try await body(store)
            await store.close()
            return result
        }
    }
}
