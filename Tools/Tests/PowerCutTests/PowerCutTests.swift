import Foundation
import Processes
import Testing

/// Born from the question what is left of a log after a power cut, at any moment, with any part of
/// what was not flushed. The tool `foldback-powercut` builds and checks the images, in its own
/// process, because a damaged file could end the process. Tools/powercut, which CI runs too, also checks
/// that images without flushes lose entries.
@Suite(.serialized) struct PowerCutTests {
    @Test(.disabled(if: PowerCutTool.cannotRun != nil, "\(PowerCutTool.cannotRun ?? "")"))
    func `L2: every image after a power cut has all promised entries`() throws {
        try PowerCutTool.expectSound(100, "--no-controls")
    }

    /// LMDB writes its first meta pages without a flush. An image with a part of them did not open.
    @Test(.disabled(if: PowerCutTool.cannotRun != nil, "\(PowerCutTool.cannotRun ?? "")"))
    func `L10: a power cut during the first open leaves a log that opens`() throws {
        try PowerCutTool.expectSound(600, "--only", "first open", "--no-controls")
    }

    @Test(.disabled(if: PowerCutTool.cannotRun != nil, "\(PowerCutTool.cannotRun ?? "")"))
    func `N6: a power cut while a log continues loses and doubles no promised intent`() throws {
        try PowerCutTool.expectSound(PowerCutTool.imageCount, "--only", "continuing")
    }

    @Test(
        .disabled(if: PowerCutTool.cannotRun != nil, "\(PowerCutTool.cannotRun ?? "")"),
        arguments: ["compacting", "backups", "beginning"])
    func `C7, C11, BK1: a power cut during a compaction, a beginning or a backup leaves whole logs`(
        scenario: String
    ) throws {
        try PowerCutTool.expectSound(
            PowerCutTool.imageCount, "--only", scenario, "--no-controls")
    }

    /// Without the flush of the folder, a power cut takes back the names, and the old log may be removed.
    /// Without the flush of the new log, it has its name before its content.
    @Test(
        .disabled(if: PowerCutTool.cannotRun != nil, "\(PowerCutTool.cannotRun ?? "")"),
        arguments: [
            ("compacting", "copy-flushes", "the log cannot be used"),
            ("compacting", "directory-renames", "entries are lost"),
            ("backups", "copy-flushes", "the backup cannot be read"),
            ("backups", "directory-renames", "entries are lost"),
            ("beginning", "copy-flushes", "the log cannot be used"),
            ("beginning", "directory-renames", "entries are lost"),
        ])
    func `C7, C11, BK1: a compaction, a beginning or a backup without one of its flushes is found`(
        scenario: String, calls: String, finding: String
    ) throws {
        let result = try PowerCutTool.run(
            ["--images", "\(PowerCutTool.imageCount)", "--only", scenario, "--without", calls])
        print(result.output.split(separator: "\n").prefix(5).joined(separator: "\n"))
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        #expect(result.output.contains(finding), "\(result.output)")
    }

    @Test(.disabled(if: PowerCutTool.cannotRun != nil, "\(PowerCutTool.cannotRun ?? "")"))
    func `a failing image is described, and kept to be repeated`() throws {
        let kept = FileManager.default.temporaryDirectory.appending(
            path: "foldback-powercut-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: kept) }
        let arguments = ["--seed", "1", "--only", "rows", "--without", "flushes"]
        let result = try PowerCutTool.run(
            arguments + ["--images", "20", "--findings", kept.path])
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        let again = try #require(result.output.firstMatch(of: /--image (\d+) --recordings (\S+)/))
        let (number, recordings) = (String(again.1), String(again.2))
        let first = try #require(
            result.output.split(separator: "\n").first { $0.hasPrefix("image \(number), ") })
        let repeated = try PowerCutTool.run(
            arguments + ["--image", number, "--recordings", recordings])
        let second = repeated.output.split(separator: "\n").first { $0.hasPrefix("image ") }
        // The paragraph up to the cut names directories of the run.
        let cut = try #require(first.range(of: "The power was cut"))
        #expect(second?.hasSuffix(first[cut.lowerBound...]) == true, "\(repeated.output)")
        let image = kept.appending(path: "1/image-\(number)")
        #expect(FileManager.default.fileExists(atPath: image.appending(path: "finding.txt").path))
    }
}

/// The tool of the power-cut tests, which is built beside the test bundle.
private enum PowerCutTool {
    /// Why the tool cannot run here; nil if it can.
    static var cannotRun: String? {
        #if os(Linux)
            let environment = ProcessInfo.processInfo.environment
            let isSanitized =
                environment["TSAN_OPTIONS"] != nil || environment["ASAN_OPTIONS"] != nil
            return isSanitized ? "a sanitizer must be loaded before the recording library" : nil
        #else
            return "processes are recorded with LD_PRELOAD, on Linux"
        #endif
    }

    /// The images of one scenario. Without a flush, one in ten or more fails.
    static let imageCount = 150

    /// Makes images as the options say, and requires that each one is as promised.
    static func expectSound(_ images: Int, _ options: String...) throws {
        let result = try run(["--images", "\(images)"] + options)
        print(result.output, terminator: "")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains("power cuts: \(images) images"))
    }

    static func run(_ arguments: [String]) throws -> ProcessEnd {
        try Processes.run([executable("foldback-powercut")] + arguments)
    }
}
