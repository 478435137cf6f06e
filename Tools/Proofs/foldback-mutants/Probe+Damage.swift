import Foldback
import Foundation

/// Questions about a damaged file.
extension Probe {
    /// Zeroes a page that opening does not read, and returns whether a store on the log reads a
    /// settlement, or carries out a command.
    nonisolated(nonsending) func usesDamagedFile(_ log: URL) async throws -> Bool {
        let text = "in the first leaf"
        let whole = try await openValue(log)
        for number in 1...60 {
            let info = ["text": number == 1 ? text : String(repeating: "x", count: 200)]
            let receipt = try await whole.record(.put("a", number), info: info)
            try await whole.acknowledge(receipt.number)
        }
        try await whole.checkpoint()
        await whole.close()
        try zeroPages(with: text, of: log.appending(path: "data.mdb"))
        let store = try await openValue(log)
        let isRead = await succeeds { () throws(LogError) in _ = try store.intent(60) }
        // A flush changes nothing, so only a latched store refuses it.
        let isFlushed = await succeeds { () throws(LogError) in try await store.flush() }
        let isRecorded = await succeeds { () throws(CommandError) in
            _ = try await store.record(.put("a", 61))
        }
        await store.close()
        return isRead || isFlushed || isRecorded
    }

    /// Opens a store without stored projections, which checks large tables after opening.
    private nonisolated(nonsending) func openValue(
        _ log: URL
    ) async throws(LogError) -> Store<CorrectProjection> {
        try await Store.open(
            at: log, CorrectProjection.self, confirmedBy: .acknowledgement, durability: .relaxed)
    }

    /// Writes into the file, so that it stays the same file for the store.
    private func zeroPages(with text: String, of file: URL) throws {
        let pageBytes = 4_096
        var bytes = try Data(contentsOf: file)
        var start = bytes.startIndex
        while let found = bytes[start...].firstRange(of: Data(text.utf8)) {
            let page = found.lowerBound / pageBytes * pageBytes
            bytes.resetBytes(in: page..<page + pageBytes)
            start = page + pageBytes
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }
}
