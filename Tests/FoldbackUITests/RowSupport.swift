import Foldback
import FoldbackUI
import Synchronization
import TestSupport

extension RowBoard: Itemized {
    public static func items(
        of move: Move, _ context: EventContext
    ) -> [ItemReference<String>] {
        Board.keys(touchedBy: move, context).map { ItemReference($0) }
    }
}

extension Store where P == RowBoard {
    /// A store in memory, on an empty log of replica "me".
    static func rowBoard(_ kind: LogKind = .acknowledgement) -> Store<RowBoard> {
        .inMemory(
            RowBoard.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }

    /// The statuses of all items, computed from the log alone.
    func naiveStatuses() throws -> [String: ItemStatus] {
        try naiveStatuses(of: read { SeenIntents($0) })
    }
}

/// Waits until a selection was read.
@MainActor func isRead<Value>(_ selection: RowSelection<Value>) async {
    await until { !selection.value.isLoading }
}

/// Waits until no edge of a page is loading.
@MainActor func isRead<Element, Failure>(_ pages: PageModel<Element, Failure>) async {
    await until { !pages.start.isLoading && !pages.end.isLoading }
}

/// Two tables, whose decoded rows are counted.
struct CountedRows: StoredProjection {
    static let books = RowTable<String, Int>("books", codec: CountingCodec())
    static let others = RowTable<String, Int>("others", codec: CountingCodec())
    static let schema = RowSchema(books, others)
    static var codec: any EventCodec<Move> { MoveCodec() }

    /// The rows that were decoded.
    static let decoded = Mutex(0)

    /// Sets a book, or another row if the key begins with "other".
    static func apply(
        _ move: Move, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .set(let key, let value) = move else { return }
        try rows.put(value, at: key, in: key.hasPrefix("other") ? others : books)
    }

    private struct CountingCodec: ByteCodec {
        func encode(_ row: Int, into output: inout OutputBuffer) {
            output.append(bytes: Array("\(row)".utf8))
        }

        func decode(_ bytes: RawSpan) throws -> Int {
            CountedRows.decoded.withLock { $0 += 1 }
            return Int(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }) ?? 0
        }
    }
}
