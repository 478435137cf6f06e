import Foldback
import FoldbackUI
import TestSupport

extension FetchServer {
    /// The fetch of a page. An answer of 0 says that there are no more rows.
    func pageFetch() -> PageFetch<RowEntry<String, Int>, RequestError> {
        { _, _, report async throws(RequestError) in
            try await self.fetch(report) == 0 ? .end : .more
        }
    }
}

extension ManualClock {
    /// The sources of this clock, with frames that begin at once.
    var sourcesWithoutFrames: UISources {
        var sources = sources
        sources.frame = {}
        return sources
    }
}

extension Store where P == RowBoard {
    /// Confirms new cells, in one commit.
    nonisolated(nonsending) func confirmCells(_ keys: [String]) async throws {
        let through = status.through.value
        try await confirm(
            keys.enumerated().map { index, key in
                ConfirmedEvent(
                    position: Position(through + UInt64(index) + 1),
                    event: .set(key, index))
            })
    }
}
