import CRecordedIdentity
import Foundation
import PowerCuts

extension Recorder {
    /// Returns recordings of a shell that opens a log after a power cut, and records two intents.
    /// The power can then fail a second time.
    ///
    /// Images that the check refuses are left out: the campaign over `earlier` reports such images.
    /// The shell sees new files, and so takes the log for a copy: its opening writes more than the
    /// opening of the same files would (L11).
    ///
    /// - Parameters:
    ///   - earlier: the recordings with the first power cut.
    ///   - count: how many recordings to make.
    func recordings(
        afterCutsOf earlier: [Recording], seed: UInt64, count: Int, scratch: URL
    ) async throws -> [Recording] {
        var numbers = SeededNumbers(seed: ~seed)
        var all: [Recording] = []
        for number in 0..<(earlier.isEmpty ? 0 : count) {
            let recording = earlier[number % earlier.count]
            let cut = Cut(number, recording: 0, of: recording, seed: numbers.next())
            var disk = Disk(lastContents: recording.lastContents)
            for operation in recording.trace.operations.prefix(cut.operationCount) {
                disk.perform(operation)
            }
            let image = disk.image(seed: cut.seed)
            let promised = recording.promised[cut.operationCount]
            let files = try ImageFiles(
                image, in: scratch.appending(path: "before", directoryHint: .isDirectory))
            let finding = await ImageCheck(cut, of: recording).finding(in: files.log)
            files.remove()
            guard finding == nil else { continue }
            let place = place(of: "after-\(number)")
            let scenario = Scenario.opening(after: recording.scenario)
            if !FileManager.default.fileExists(atPath: place.appending(path: "trace").path) {
                try write(image, asStartOf: place)
            }
            all.append(try self.recording(of: scenario, in: place, promised: promised))
        }
        return all
    }

    /// Writes an image as the files that a recording starts with, and the trace that leads to them.
    private func write(_ image: DiskImage, asStartOf place: URL) throws {
        let root = place.appending(path: "root", directoryHint: .isDirectory)
        try image.write(to: root)
        let top = try Self.identity(of: root)
        var directories = ["": top]
        var operations = [Operation.start(top)]
        for item in image.items {
            let url = URL(filePath: item.path)
            let parent = item.path.contains("/") ? url.deletingLastPathComponent().relativePath : ""
            let id = try Self.identity(of: root.appending(path: item.path))
            guard let directory = directories[parent] else {
                throw RecordingError("the image has no directory \(parent)")
            }
            let name = Place(directory, url.lastPathComponent)
            guard let bytes = item.bytes else {
                directories[item.path] = id
                operations.append(.makeDirectory(id, name))
                continue
            }
            operations += [
                .create(id, name), .write(id, offset: 0, bytes: bytes[...]), .flush(id),
            ]
        }
        operations += directories.values.map { .flush($0) }
        try Data(operations.flatMap(\.encoded)).write(to: place.appending(path: "trace.start"))
    }

    private static func identity(of file: URL) throws -> FileID {
        var (inode, birth): (UInt64, UInt64) = (0, 0)
        guard recorded_identity_of(file.path, &inode, &birth) == 0 else {
            throw RecordingError("the file \(file.path) cannot be read")
        }
        return FileID(inode: inode, birth: birth)
    }
}
