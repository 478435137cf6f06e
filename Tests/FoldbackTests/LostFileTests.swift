import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// A user deleted the directory of an open log, and the store went on answering "durable". What does
/// a store say if its file is lost while it is open (L6)?
@Suite struct LostFileTests {
    enum Loss: CaseIterable {
        case directoryDeleted, fileDeleted, fileMoved, fileReplaced, fileEmptied, fileShortened
        case fileOverwritten

        /// The words that an error has for it.
        var words: String {
            switch self {
            case .directoryDeleted, .fileDeleted, .fileMoved: "was deleted or moved"
            case .fileReplaced: "was replaced"
            case .fileEmptied, .fileShortened: "was truncated"
            case .fileOverwritten: "another program wrote"
            }
        }
    }

    private let directory = TemporaryDirectory()
    private var dataFile: URL { directory.log.appending(path: "data.mdb") }

    private func lose(_ loss: Loss, backup: Data) throws {
        let manager = FileManager.default
        switch loss {
        case .directoryDeleted: try manager.removeItem(at: directory.log)
        case .fileDeleted: try manager.removeItem(at: dataFile)
        case .fileMoved:
            try manager.moveItem(at: dataFile, to: directory.url.appending(path: "away"))
        case .fileReplaced: try backup.write(to: dataFile, options: .atomic)
        case .fileEmptied: try #require(truncate(dataFile.path, 0) == 0)
        case .fileShortened: try #require(truncate(dataFile.path, 4_096) == 0)
        case .fileOverwritten:
            // As `cp backup/data.mdb log/` does, but without making the file shorter.
            let file = try FileHandle(forWritingTo: dataFile)
            try file.write(contentsOf: backup)
            try file.close()
        }
    }

    @Test(arguments: BoardKeeper.allCases, Loss.allCases)
    func `L6: a store whose file is lost records nothing more, and says why`(
        keeper: BoardKeeper, loss: Loss
    ) async throws {
        let store = try await keeper.open(at: directory.log, .downlink)
        _ = try await store.record(.set("a", 1))
        let backup = try Data(contentsOf: dataFile)
        for number in 0..<50 { _ = try await store.record(.set("b", number)) }
        try lose(loss, backup: backup)
        let first = await error { () throws(CommandError) in
            try await store.record(.set("c", 1))
        }
        let failure: StorageFailure
        switch first {
        case .log(.storage(let found)), .log(.outcomeUnknown(_, let found)),
            .log(.latched(let found)):
            failure = found
        default:
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(failure.reason == (loss == .fileOverwritten ? .writtenByOthers : .fileLost))
        #expect(failure.detail.contains(loss.words), "\(failure.detail)")
        let second = await error { () throws(CommandError) in
            try await store.record(.set("d", 1))
        }
        guard case .log(.latched(failure)) = second else {
            Issue.record("\(String(describing: second))")
            return
        }
        #expect(store.status.sequence == 51)
        await store.close()
    }

    @Test(arguments: [Loss.directoryDeleted, .fileReplaced, .fileEmptied, .fileOverwritten])
    func `L6: a flush of a lost file is refused`(loss: Loss) async throws {
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        _ = try await store.record(.set("a", 1))
        let backup = try Data(contentsOf: dataFile)
        _ = try await store.record(.set("b", 1))
        try lose(loss, backup: backup)
        let refused = await error { () throws(LogError) in try await store.flush() }
        guard case .outcomeUnknown(nil, let failure) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(failure.reason == (loss == .fileOverwritten ? .writtenByOthers : .fileLost))
        await store.close()
    }

    @Test(arguments: [Loss.fileEmptied, .fileShortened])
    func `rows of a truncated file are an error, not the end of the process`(loss: Loss)
        async throws
    {
        let store = try await Store.open(
            at: directory.log, RowBoard.self, confirmedBy: .acknowledgement, durability: .relaxed)
        for number in 0..<50 {
            let receipt = try await store.record(.set("k\(number)", number))
            try await store.acknowledge(receipt.number)
        }
        try lose(loss, backup: Data())
        #expect(throws: LogError.self) {
            try store.read { rows in try rows.get("k1", in: RowBoard.cells) }
        }
        await store.close()
    }

    @Test(arguments: [Loss.directoryDeleted, .fileReplaced])
    func `a store reads rows of a lost file until a command notices the loss`(loss: Loss)
        async throws
    {
        let store = try await Store.open(
            at: directory.log, RowBoard.self, confirmedBy: .acknowledgement, durability: .relaxed)
        let receipt = try await store.record(.set("a", 1))
        try await store.acknowledge(receipt.number)
        try lose(loss, backup: try Data(contentsOf: dataFile))
        #expect(try store.read { rows in try rows.get("a", in: RowBoard.cells) } != nil)
        await #expect(throws: CommandError.self) { try await store.record(.set("b", 1)) }
        await store.close()
    }

    @Test(arguments: Loss.allCases)
    func `a reader of a lost file gets a typed error`(loss: Loss) async throws {
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        _ = try await store.record(.set("a", 1))
        let backup = try Data(contentsOf: dataFile)
        await store.close()
        let reader = try LogReader(at: directory.log)
        #expect(try reader.entries(from: 1, countMax: 10).count == 1)
        guard loss != .fileOverwritten else { return }
        try lose(loss, backup: backup)
        let refused = await error { () throws(LogError) in
            try reader.entries(from: 1, countMax: 10)
        }
        guard case .storage(let failure) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(failure.reason == .fileLost)
        reader.close()
    }
}
