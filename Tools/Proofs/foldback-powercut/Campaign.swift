import CRecordedIdentity
import FoldbackTesting
import Foundation
import PowerCuts
import Synchronization

/// One power cut: a place in a recording, and the seed of what the disk then has.
struct Cut: Sendable {
    /// The image's number in the run. With the run's seed, it decides everything else.
    let number: Int
    let recording: Int
    /// The operations that were done before the power failed.
    let operationCount: Int
    let seed: UInt64

    /// Draws a place of the recording, and the choices there.
    init(_ number: Int, recording: Int, of recorded: Recording, seed: UInt64) {
        var numbers = SplitMix64(seed: seed)
        let first = recorded.startCount + 1
        let count = recorded.unflushed.count - first
        // Most cuts are made while something is not flushed. The others all lead to one image.
        var place = first
        for _ in 0..<4 {
            place = first + Int(numbers.next(below: UInt64(count)))
            if recorded.unflushed[place] > 0 { break }
        }
        (self.number, self.recording, operationCount) = (number, recording, place)
        self.seed = numbers.next()
    }
}

/// An image that failed.
struct FailedImage: Sendable {
    let cut: Cut
    let recording: Recording
    let image: DiskImage
    let finding: Finding

    /// What failed, where the power was cut, and what the disk lacked.
    var text: String {
        let answers = recording.answered[cut.operationCount]
        return
            "image \(cut.number), \(recording.scenario.name): \(finding). The power was cut after "
            + "operation \(cut.operationCount) of \(recording.trace.operations.count) and answer "
            + "\(answers). \(image.lossText)"
    }
}

/// Images of recordings, each of them written, opened and checked.
final class Campaign: Sendable {
    /// The counts of one scenario.
    struct Count: Sendable {
        var images = 0
        var contents: Set<Int> = []
        var failures = 0
        var losses = 0

        mutating func add(_ other: Count) {
            images += other.images
            contents.formUnion(other.contents)
            failures += other.failures
            losses += other.losses
        }
    }

    /// What a campaign found.
    struct Outcome: Sendable {
        let counts: [Count]
        /// The findings as text, without the images' paths, and how many images have each.
        let kinds: [String: Int]
        /// The first failures.
        let failures: [FailedImage]

        var failureCount: Int { counts.reduce(0) { $0 + $1.failures } }
        var lossCount: Int { counts.reduce(0) { $0 + $1.losses } }
    }

    private struct State {
        var next = 0
        /// The disk of the present recording, after the operations up to the last cut.
        var disk: (recording: Int, done: Int, disk: Disk)?
        var counts: [Count]
        var failures: [FailedImage] = []
        var kinds: [String: Int] = [:]
    }

    private let recordings: [Recording]
    private let omission: Omission?
    /// In the order of their recordings, and then of their places.
    private let cuts: [Cut]
    private let scratch: URL
    private let state: Mutex<State>

    /// - Parameters:
    ///   - numbers: the images to check. An image depends only on the seed and its number.
    ///   - scratch: a directory for images.
    init(
        _ recordings: [Recording], seed: UInt64, numbers: Range<Int>, without omission: Omission?,
        scratch: URL
    ) {
        self.recordings = recordings
        self.omission = omission
        self.scratch = scratch
        let turns = recordings.indices.flatMap { index in
            Array(repeating: index, count: recordings[index].scenario.weight)
        }
        cuts = numbers.map { number in
            let index = turns[number % turns.count]
            return Cut(
                number, recording: index, of: recordings[index],
                seed: seed &+ UInt64(number) &* 0xD134_2543_DE82_EF95)
        }.sorted { ($0.recording, $0.operationCount) < ($1.recording, $1.operationCount) }
        state = Mutex(State(counts: recordings.map { _ in Count() }))
    }

    /// Checks every image.
    func run(workers: Int) async -> Outcome {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<workers { group.addTask { await self.work(worker) } }
        }
        return state.withLock { state in
            Outcome(
                counts: state.counts, kinds: state.kinds,
                failures: state.failures.sorted { $0.cut.number < $1.cut.number })
        }
    }

    private func work(_ worker: Int) async {
        while let (cut, image) = next() {
            let recording = recordings[cut.recording]
            crash_note(Int32(worker), "image \(cut.number), \(recording.scenario.name)")
            let directory = scratch.appending(
                path: "image-\(worker)", directoryHint: .isDirectory)
            let finding = await finding(in: image, of: recording, cut, directory)
            crash_note(Int32(worker), "")
            state.withLock { state in
                state.counts[cut.recording].images += 1
                state.counts[cut.recording].contents.insert(image.digest)
                guard let finding else { return }
                state.counts[cut.recording].failures += 1
                let isPromised = recording.promised[cut.operationCount] > 0
                if isPromised, finding.isLoss { state.counts[cut.recording].losses += 1 }
                let kind = "\(finding)".replacing(directory.path + "/", with: "")
                state.kinds["\(recording.scenario.name): \(kind)", default: 0] += 1
                if state.failures.count < Self.failuresMax {
                    state.failures.append(
                        FailedImage(
                            cut: cut, recording: recording, image: image, finding: finding))
                }
            }
        }
    }

    /// The number of failures whose whole images are kept in memory.
    private static let failuresMax = 20

    private func finding(
        in image: DiskImage, of recording: Recording, _ cut: Cut, _ directory: URL
    ) async -> Finding? {
        do {
            let files = try ImageFiles(image, in: directory)
            defer { files.remove() }
            return await ImageCheck(cut, of: recording).finding(in: files.log)
        } catch {
            return .unusable("the image cannot be written: \(error)")
        }
    }

    private func next() -> (Cut, DiskImage)? {
        state.withLock { state in
            guard state.next < cuts.count else { return nil }
            let cut = cuts[state.next]
            state.next += 1
            let recording = recordings[cut.recording]
            if state.disk?.recording != cut.recording {
                let disk = Disk(
                    lastContents: recording.lastContents, without: omission,
                    from: recording.startCount)
                state.disk = (cut.recording, 0, disk)
            }
            while state.disk!.done < cut.operationCount {
                state.disk!.disk.perform(recording.trace.operations[state.disk!.done])
                state.disk!.done += 1
            }
            return (cut, state.disk!.disk.image(seed: cut.seed))
        }
    }
}

extension DiskImage {
    /// A hash of all names and contents.
    fileprivate var digest: Int {
        var hasher = Hasher()
        for item in items {
            hasher.combine(item.path)
            hasher.combine(item.bytes)
        }
        return hasher.finalize()
    }
}
