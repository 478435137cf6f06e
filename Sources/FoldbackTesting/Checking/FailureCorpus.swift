import Foldback
import Foundation

/// Scripts that failed once, one file each. They hold events, not seeds, so a change of a generator does not
/// change them.
struct FailureCorpus: Sendable {
    /// Nil if failures are not kept.
    let folder: URL?

    init(_ failures: Failures, besides file: String, _ projection: String) {
        let tests = URL(filePath: file).deletingLastPathComponent()
        let base: URL? =
            switch failures {
            case .besideTests:
                // A machine may have the program without its sources.
                FileManager.default.fileExists(atPath: tests.path)
                    ? tests.appending(path: "FoldbackFailures", directoryHint: .isDirectory) : nil
            case .folder(let url): url
            case .forgotten: nil
            }
        folder = base?.appending(path: projection, directoryHint: .isDirectory)
    }

    /// In order of their file names.
    func scripts<Event>(
        _ codec: any EventCodec<Event>
    ) -> [(name: String, script: Result<Script<Event>, any Error>)] {
        files { !$0.hasPrefix(Law.p15.rawValue) }.map { name, text in
            (name, Result { try Script(ndjson: try text.get(), codec) })
        }
    }

    /// Fleets that failed once, in order of their file names.
    func fleets() -> [(name: String, fleet: Result<RecordedFleet, any Error>)] {
        files { $0.hasPrefix(Law.p15.rawValue) }.map { name, text in
            (name, Result { try RecordedFleet(json: try text.get()) })
        }
    }

    private func files(
        where isWanted: (String) -> Bool
    ) -> [(name: String, text: Result<String, any Error>)] {
        guard let folder,
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        else { return [] }
        return names.filter { $0.hasSuffix(".ndjson") && isWanted($0) }.sorted().map { name in
            let file = folder.appending(path: name)
            return (name, Result { try String(contentsOf: file, encoding: .utf8) })
        }
    }

    /// - Throws: an error of the file system.
    func keep(_ finding: Finding) throws {
        guard let folder else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in finding.ndjson.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let name = "\(finding.law.rawValue)-\(String(hash, radix: 16).prefix(8)).ndjson"
        try finding.ndjson.write(
            to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }
}
