import Foldback
import Foundation

/// Scripts that failed once, one file each. They hold events, not seeds, so a change of a generator
/// does not change them.
struct FailureCorpus: Sendable {
    /// Nil if failures are not kept.
    let folder: URL?
    /// Why kept failures do not run although they should; nil if they do.
    private(set) var trouble: String?

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
        if base == nil, failures == .besideTests {
            trouble =
                "kept failures did not run, and new failures are not kept: this machine has no folder "
                + "\(tests.path). Give failures: .folder(url), or .forgotten."
        }
        do { names = try Self.names(in: folder) } catch {
            trouble = "kept failures did not run: \(folder?.path ?? "") cannot be read: \(error)"
        }
    }

    /// The files of kept failures, in order.
    private var names: [String] = []

    private static func names(in folder: URL?) throws -> [String] {
        guard let folder, FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".ndjson") }.sorted()
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
        guard let folder else { return [] }
        return names.filter(isWanted).map { name in
            let file = folder.appending(path: name)
            return (name, Result { try Self.text(of: file) })
        }
    }

    /// - Throws: an error of the file system; ``OversizedFile`` before much memory is used.
    private static func text(of file: URL) throws -> String {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var data = Data()
        while let piece = try handle.read(upToCount: 1 << 16), !piece.isEmpty {
            data += piece
            guard data.count <= OversizedFile.bytesMax else { throw OversizedFile(path: file.path) }
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CocoaError(.fileReadInapplicableStringEncoding)
        }
        return text
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

/// A file in the folder of failures that is larger than any script that failed, such as a link to
/// another file.
private struct OversizedFile: Error, CustomStringConvertible {
    static let bytesMax = 64 << 20
    let path: String
    var description: String {
        "\(path) has more than \(Self.bytesMax) bytes; remove it from the folder of failures"
    }
}
