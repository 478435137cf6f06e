import ArgumentParser
import CRecordedIdentity
import Foldback
import Foundation
import PowerCuts

@main
struct PowerCut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-powercut",
        abstract: "Cuts the power of recorded processes, and checks what the disk then has.",
        discussion: """
            Runs real processes, and records their writes, flushes, sizes and name changes. Then \
            builds disk images that contain some of the operations that were not flushed, whole or \
            torn by sector, and opens each image as an app that starts again.

            At the end, negative controls treat flushes as not done. They must find losses.

            The exit code is 1 if an image fails, or if a control finds nothing.

            Example: foldback-powercut --images 50000
            """)

    @Option(help: "The number of images.")
    var images = 2_000

    @Option(help: "The seed of all choices; random by default.")
    var seed: UInt64?

    @Option(help: "Only this image.")
    var image: Int?

    @Option(help: "Only scenarios whose names contain this text.")
    var only = ""

    @Option(
        help: ArgumentHelp(
            "Treats calls as not done: \(Omission.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "calls"))
    var without: Omission?

    @Flag(inversion: .prefixedNo, help: "Run the negative controls at the end.")
    var controls = true

    @Option(help: "A directory for failing images, with their recordings.")
    var findings: String?

    @Option(help: "The recordings of an earlier run, to repeat its images byte for byte.")
    var recordings: String?

    func run() async throws {
        guard Recorder.isAvailable else {
            print(
                "power cuts: not tested, because processes can be recorded only on Linux with libfoldback-trace.so beside this tool"
            )
            return
        }
        crash_notes_enable()
        let seed = seed ?? .random(in: 1...UInt64(Int64.max))
        print("power cuts: seed \(seed) (again: \(again(seed)))")
        let work = try WorkDirectory()
        defer { work.remove() }
        let recorder = Recorder(
            directory: recordings.map { URL(filePath: $0, directoryHint: .isDirectory) }
                ?? work.recordings)
        let recorded = try await recordings(recorder, seed, work)
        var isClean = try await check(recorded, seed, work)
        if controls, without == nil, image == nil {
            for omission in Omission.allCases
            where recorded.contains(where: { $0.scenario.isChanged(by: omission) }) {
                isClean = await control(recorded, seed, work, omission) && isClean
            }
        }
        if !isClean { throw ExitCode(1) }
    }

    /// Returns the command that makes the same choices again.
    private func again(_ seed: UInt64) -> String {
        var words = ["Tools/powercut --seed \(seed)"]
        if !only.isEmpty { words.append("--only \"\(only)\"") }
        if let without { words.append("--without \(without.rawValue)") }
        return words.joined(separator: " ")
    }

    /// Returns the recordings of the chosen scenarios.
    private func recordings(
        _ recorder: Recorder, _ seed: UInt64, _ work: WorkDirectory
    ) async throws -> [Recording] {
        let opensAgain = only.isEmpty || Scenario.openingName.contains(only)
        let needed = Scenario.all.filter {
            only.isEmpty || $0.name.contains(only) || opensAgain && $0.isOpenedAgain
        }
        guard !needed.isEmpty else { throw ValidationError("no scenario contains \"\(only)\"") }
        let recorded = try needed.map { try recorder.recording(of: $0) }
        let chosen = recorded.filter { only.isEmpty || $0.scenario.name.contains(only) }
        guard opensAgain else { return chosen }
        // The count is fixed, so that an image's number means the same in every run of a seed.
        return try await chosen
            + recorder.recordings(
                afterCutsOf: recorded.filter(\.scenario.isOpenedAgain), seed: seed, count: 10,
                scratch: work.scratch)
    }

    /// The failures that are shown and kept.
    private static let shownMax = 8
    private static var workers: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// Checks the images. Returns whether all of them are right.
    private func check(
        _ recorded: [Recording], _ seed: UInt64, _ work: WorkDirectory
    ) async throws -> Bool {
        let numbers = image.map { $0..<($0 + 1) } ?? 0..<images
        let campaign = Campaign(
            recorded, seed: seed, numbers: numbers, without: without, scratch: work.scratch)
        let start = ContinuousClock.now
        let outcome = await campaign.run(workers: Self.workers)
        for (name, count) in Self.counts(recorded, outcome) {
            print(
                "  \(name): \(count.images) images, \(count.contents.count) different, \(count.failures) failed"
            )
        }
        let seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
        print(
            "power cuts: \(numbers.count) images in \(seconds) s, \(outcome.failureCount) failed")
        for (kind, count) in outcome.kinds.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) })
            .prefix(Self.shownMax)
        {
            print("  \(count) x \(kind)")
        }
        for failure in outcome.failures.prefix(Self.shownMax) { print("\n\(failure.text)") }
        if outcome.failureCount > 0 { try keep(outcome.failures, seed, work) }
        return outcome.failureCount == 0
    }

    /// Returns the counts of each scenario, in the order of the scenarios.
    private static func counts(
        _ recorded: [Recording], _ outcome: Campaign.Outcome
    ) -> [(name: String, count: Campaign.Count)] {
        var all: [(name: String, count: Campaign.Count)] = []
        for (recording, count) in zip(recorded, outcome.counts) {
            if all.last?.name == recording.scenario.name {
                all[all.count - 1].count.add(count)
            } else {
                all.append((recording.scenario.name, count))
            }
        }
        return all
    }

    /// Keeps the recordings and the first failing images, and says how to repeat them.
    private func keep(_ failures: [FailedImage], _ seed: UInt64, _ work: WorkDirectory) throws {
        guard let findings else {
            print("\nkeep failing images: --findings DIRECTORY")
            return
        }
        let kept = URL(filePath: findings, directoryHint: .isDirectory)
            .appending(path: "\(seed)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
        var source = recordings
        if source == nil {
            let copy = kept.appending(path: "recordings")
            try? FileManager.default.removeItem(at: copy)
            try FileManager.default.copyItem(at: work.recordings, to: copy)
            source = copy.path
        }
        for failure in failures.prefix(Self.shownMax) {
            let place = kept.appending(path: "image-\(failure.cut.number)")
            try? FileManager.default.removeItem(at: place)
            try failure.image.write(to: place)
            let text = ([failure.text, ""] + failure.image.losses).joined(separator: "\n") + "\n"
            try Data(text.utf8).write(to: place.appending(path: "finding.txt"))
        }
        print(
            "\nkept in \(kept.path); again: \(again(seed)) --image \(failures[0].cut.number) --recordings \(source ?? "")"
        )
    }

    /// Runs images without some calls. Returns whether they lose something, as they must.
    private func control(
        _ recorded: [Recording], _ seed: UInt64, _ work: WorkDirectory, _ omission: Omission
    ) async -> Bool {
        let batch = max(images / 10, 40)
        var (checked, failed, lost) = (0, 0, 0)
        while lost < Self.controlLossesMin, checked < max(batch, Self.controlImagesMax) {
            let campaign = Campaign(
                recorded, seed: seed, numbers: checked..<(checked + batch), without: omission,
                scratch: work.scratch)
            let outcome = await campaign.run(workers: Self.workers)
            checked += batch
            failed += outcome.failureCount
            lost += outcome.lossCount
        }
        print(
            "control: without \(omission.rawValue), \(failed) of \(checked) images fail, \(lost) of them lose promised entries"
        )
        if lost == 0 {
            print("control: FAILED, because images without \(omission.rawValue) must lose entries")
        }
        return lost > 0
    }

    /// A control ends after so many losses.
    private static let controlLossesMin = 3
    /// A control that finds no loss ends after so many images.
    private static let controlImagesMax = 800
}

extension Omission: ExpressibleByArgument {}

extension Scenario {
    /// Whether images without these calls lose something.
    fileprivate func isChanged(by omission: Omission) -> Bool {
        switch omission {
        case .flushes, .synchronousWrites, .directoryFlushes: true
        case .copyFlushes, .directoryRenames:
            compactingSession != nil || isBackedUp || isBeginning
        }
    }
}
