import Foldback
import FoldbackUI
import Foundation

/// Posts that do not fit in memory, as rows.
struct ArchivedPosts: StoredProjection {
    struct Row: Codable, Equatable, Sendable {
        let by: String
        let text: String
    }

    /// Adds the posts with these numbers.
    struct Event: Codable, Sendable {
        let first: Int
        let count: Int
    }

    static let posts = RowTable("posts", key: String.self, row: Row.self)
    static let schema = RowSchema(posts)

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        for number in event.first..<(event.first + event.count) {
            try rows.insert(Seeds.archived(number), at: id(number), in: posts)
        }
    }

    /// Ids sort like their numbers.
    private static func id(_ number: Int) -> String {
        "archive." + String(repeating: "0", count: 5 - "\(number)".count) + "\(number)"
    }
}

extension ArchivedPosts: Itemized {
    static func items(of event: Event, _ context: EventContext) -> [ItemReference<String>] { [] }
}

/// 10,000 posts in a log of their own, for all devices. They are made when a page asks for them
/// first.
actor Archive {
    static let count = 10_000
    private static let batch = 1_000

    private let directory: URL
    private var opening: Task<Store<ArchivedPosts>, any Error>?

    init(at directory: URL) { self.directory = directory }

    /// Returns the log with all posts. After a failure, the next call tries again.
    func store() async throws -> Store<ArchivedPosts> {
        let task = opening ?? Task { [directory] in try await Self.filled(at: directory) }
        opening = task
        do { return try await task.value } catch {
            if opening == task { opening = nil }
            throw error
        }
    }

    private static func filled(at directory: URL) async throws -> Store<ArchivedPosts> {
        let store = try await Store.open(
            at: directory, ArchivedPosts.self, confirmedBy: .downlink, durability: .relaxed)
        do {
            // An interrupted filling continues where it was.
            let done = Int(store.status.through.value)
            for batch in done..<(count / Self.batch) {
                let event = ArchivedPosts.Event(first: batch * Self.batch, count: Self.batch)
                try await store.confirm([
                    ConfirmedEvent(position: Position(UInt64(batch + 1)), event: event)
                ])
            }
        } catch {
            // Otherwise, it could not be opened again.
            await store.close()
            throw error
        }
        return store
    }
}

/// A page over the archive: a window of its rows, extended at both ends.
@MainActor final class ArchiveScreen {
    let pages: PageModel<RowEntry<String, ArchivedPosts.Row>, Never>
    private let list: ListModel<String, FeedItem>
    private unowned let screen: FeedScreen
    private(set) lazy var publisher = Publisher(
        boot: screen.world.boot, list, writer: { [unowned self] in screen.writer },
        content: { [unowned self] in screen.content(feed) },
        adoptCommits: { [model = screen.model] in await model.adoptCommits() })

    init(_ store: Store<ArchivedPosts>, _ screen: FeedScreen) {
        let model = RowsModel(store, sources: screen.world.clock.ui)
        pages = model.pages(
            of: ArchivedPosts.posts, order: .descending, pageSize: 50, windowMax: 500)
        list = ListModel(of: pages, in: model) { list, entries throws(ListError) in
            list.section(FeedList.section)
            list.items(entries.map(FeedItem.init))
        }
        self.screen = screen
    }

    private var feed: WireFeed {
        let (start, end) = (pages.start, pages.end)
        let isBusy = start.isLoading || end.isLoading || list.isLoading
        let first = pages.rows.success?.first?.key.split(separator: ".").last.flatMap { Int($0) }
        return WireFeed(
            busy: isBusy, empty: false, error: nil,
            edges: .init(start: Self.name(start), end: Self.name(end)),
            before: first.map { Archive.count - 1 - $0 }, total: Archive.count)
    }

    private static func name(_ edge: RemoteData<EdgeState, Never>) -> String {
        edge.success.map(caseName) ?? "loading"
    }
}

extension FeedItem {
    fileprivate init(_ entry: RowEntry<String, ArchivedPosts.Row>) {
        self.init(
            id: entry.key, kind: .post, post: entry.key, by: entry.row.by, text: entry.row.text)
    }
}
