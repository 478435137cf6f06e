import Foldback
import FoldbackShell
import Foundation
import PowerCuts
import Processes
import Testing

/// Born from the question what a power cut leaves of a wipe (BK7). A real wipe is recorded, and its disk is
/// cut after each of its operations.
@Suite struct WipeCutTests {
    /// The images of each place.
    private static let seeds: Range<UInt64> = 0..<64

    private let place = FileManager.default.temporaryDirectory.appending(
        path: "foldback-wipe-\(UUID().uuidString)", directoryHint: .isDirectory)

    /// Runs `foldback` with the tracing library, and returns all operations so far.
    private func record(_ arguments: [String], input: String) throws -> [PowerCuts.Operation] {
        let (trace, file) = (place.appending(path: "trace"), place.appending(path: "input"))
        try Data(input.utf8).write(to: file)
        let end = try run(
            [executable("foldback")] + arguments,
            environment: [
                "LD_PRELOAD": executable("libfoldback-trace.so"), "FOLDBACK_TRACE": trace.path,
                "FOLDBACK_TRACE_ROOT": place.appending(path: "root").path,
            ], input: .file(FileHandle(forReadingFrom: file)), output: .none, errors: .inherited)
        #expect(end.status == 0)
        return try Trace(parsing: Array(Data(contentsOf: trace))).operations
    }

    /// Checks that the log is complete or gone, and that finishing leaves nothing of a wiped log. Returns
    /// whether it is gone.
    private func check(_ root: URL, _ note: Comment) async throws -> Bool {
        let names = { try FileManager.default.contentsOfDirectory(atPath: root.path) }
        let isThere = try names().contains("log")
        #expect(try names().allSatisfy { $0 == "log" || $0.hasPrefix(".wiped-") }, note)
        try await Store<Documents>.finishWipes(in: root)
        #expect(try names() == (isThere ? ["log"] : []), note)
        guard isThere else { return true }
        let store = try await Store.open(
            at: root.appending(path: "log", directoryHint: .isDirectory), Documents.self,
            confirmedBy: .acknowledgement, durability: .durable)
        #expect(store.status.sequence == 3, note)
        #expect(store.view.json == ["a": 1, "b": 2], note)
        await store.close()
        return false
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: executable("libfoldback-trace.so")),
            "processes can be recorded only on Linux"))
    func `BK7: a power cut during a wipe leaves a whole log or none`() async throws {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let root = place.appending(path: "root", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
        let log = root.appending(path: "log").path
        let made = try record(
            ["shell", log, "--confirmed-by", "acknowledgement"],
            input: """
                {"do":"record","event":{"op":"set","key":"a","value":1}}
                {"do":"acknowledge","intent":1}
                {"do":"record","event":{"op":"set","key":"b","value":2}}

                """)
        let all = try record(["wipe", log, "--discard-pending"], input: "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
        var disk = Disk()
        for operation in made { disk.perform(operation) }
        var (images, gone) = (0, 0)
        for place in made.count...all.count {
            if place > made.count { disk.perform(all[place - 1]) }
            for seed in Self.seeds {
                let image = disk.image(seed: seed)
                let copy = self.place.appending(path: "image", directoryHint: .isDirectory)
                try image.write(to: copy)
                let note: Comment = "after \(place - made.count) operations: \(image.lossText)"
                if place == all.count {
                    #expect(image.items.isEmpty, note)
                }
                gone += try await check(copy, note) ? 1 : 0
                images += 1
                try FileManager.default.removeItem(at: copy)
            }
        }
        print("wipe: \(images) images of \(all.count - made.count) operations, \(gone) without it")
        #expect(gone > 0 && gone < images)
    }
}
