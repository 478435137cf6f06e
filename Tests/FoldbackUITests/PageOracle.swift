import Foldback
import FoldbackUI
import Synchronization
import TestSupport

/// The windows that a page may show, after the states that the model's reader has read.
///
/// Each state is known, because a selection is read in the same read as the page. An extension is
/// carried out by one of the reads after it was asked for, so there can be several windows until the
/// page shows which.
@MainActor final class PageOracle<Element: Equatable & Sendable> {
    /// A state that was read.
    private struct Read {
        let sequence: LogSequence
        let rows: [Element]
    }

    /// A window, with the extensions that are not carried out.
    private struct Candidate {
        var window: NaiveWindow<Element>
        var asked: [(edge: ListEdge, isAwaited: Bool)] = []

        func isEqual(to other: Candidate) -> Bool {
            asked.count == other.asked.count && window.isEqual(to: other.window)
        }
    }

    let precedes: (Element, Element) -> Bool
    private let sequences: RowSelection<LogSequence>
    private let reads: ReadLog
    private var candidates: [Candidate] = []
    private var first: NaiveWindow<Element>
    /// All rows of the last state that was taken.
    private var rows: [Element] = []

    private final class ReadLog: Sendable {
        let reads = Mutex<[Read]>([])
    }

    /// - Parameters:
    ///   - model: a model without a page. Make the page after this.
    ///   - all: reads all rows of the page's range.
    init(
        _ model: RowsModel<RowBoard>, _ window: NaiveWindow<Element>,
        _ all: @escaping @Sendable (borrowing RowReader<RowBoard>) throws -> [Element]
    ) {
        let log = ReadLog()
        (reads, first, precedes) = (log, window, window.precedes)
        sequences = model.select { reader in
            let read = Read(sequence: reader.sequence, rows: try all(reader))
            log.reads.withLock { $0.append(read) }
            return read.sequence
        }
    }

    /// Waits for the first read.
    func isRead() async { await until { [sequences] in sequences.value.isSuccess } }

    /// Notes an extension that the page was asked for.
    func ask(_ edge: ListEdge, isAwaited: Bool) {
        for index in candidates.indices { candidates[index].asked.append((edge, isAwaited)) }
    }

    /// Takes the states that were read up to a sequence.
    func take(through sequence: LogSequence) {
        let taken = reads.reads.withLock { reads in
            let count = reads.prefix { $0.sequence <= sequence }.count
            defer { reads.removeFirst(count) }
            return reads.prefix(count)
        }
        for read in taken {
            extend()
            rows = read.rows
            if candidates.isEmpty {
                first.extend(.end, rows, isFirst: true)
                candidates = [Candidate(window: first)]
            }
            let old = candidates
            candidates = []
            for var candidate in old {
                candidate.window.update(rows)
                add(candidate)
            }
        }
    }

    /// Removes the windows that the page does not show, and returns whether some remain.
    func keep(
        where isShown: (NaiveWindow<Element>, _ isAwaited: [ListEdge: Bool]) -> Bool
    ) -> Bool {
        extend()
        let shown = candidates.filter { candidate in
            let awaited = candidate.asked.filter(\.isAwaited).map { ($0.edge, true) }
            return isShown(candidate.window, Dictionary(awaited) { $1 })
        }
        if !shown.isEmpty { candidates = shown }
        return !shown.isEmpty
    }

    /// The windows, with the extensions that are not carried out.
    var description: String {
        candidates.map { candidate in
            "\(candidate.window.rows) between \(candidate.window.start, default: "nothing") and "
                + "\(candidate.window.end, default: "nothing"), asked \(candidate.asked)"
        }.joined(separator: "\n")
    }

    /// Adds the windows after any number of the extensions.
    private func extend() {
        for var candidate in candidates {
            while !candidate.asked.isEmpty {
                let edge = candidate.asked.removeFirst().edge
                candidate.window.extend(edge, rows)
                add(candidate)
            }
        }
    }

    private func add(_ candidate: Candidate) {
        if !candidates.contains(where: { $0.isEqual(to: candidate) }) {
            candidates.append(candidate)
        }
    }
}
