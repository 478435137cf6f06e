import Foldback
import FoldbackShell
import Foundation
import Processes
import Testing

/// The place where a session keeps documents, as given by `--store`.
enum DocumentStore: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case rows

    var testDescription: String { rawValue }

    var type: any ShownDocuments.Type {
        switch self {
        case .memory: Documents.self
        case .rows: StoredDocuments.self
        }
    }

    /// Memory for an even turn, rows for an odd turn.
    init(_ turn: Int) { self = turn % 2 == 0 ? .memory : .rows }
}

extension ShownDocuments {
    /// Returns the keys of the store's view, and checks that the store equals a fold of its log.
    static func keys(in store: Store<Self>, _ note: Comment) async throws -> Set<String> {
        let shown = try state(of: store)
        let fold = ShownState(
            try await store.snapshot(of: Documents.self, at: store.status.sequence))
        #expect(shown.sequence == fold.sequence, note)
        #expect(shown.documents == fold.documents, note)
        #expect(shown.confirmed == fold.confirmed, note)
        #expect(shown.conflicted == fold.conflicted, note)
        return Set(shown.documents.objectValue?.members.map(\.name.string) ?? [])
    }
}

extension ShellProcess {
    /// - Parameter wrapper: the start of a command that runs the shell, such as strace.
    convenience init(
        _ log: URL, _ options: [String] = [], over store: DocumentStore = .memory,
        under wrapper: [String] = []
    ) throws {
        try self.init(log.path, ["--store", store.rawValue] + options, under: wrapper)
    }
}

/// A directory in the temporary directory, on a real disk. It is removed with this value.
final class DiskDirectory {
    let url = FileManager.default.temporaryDirectory.appending(
        path: "foldback-crash-\(UUID().uuidString)", directoryHint: .isDirectory)

    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var log: URL { url.appending(path: "log", directoryHint: .isDirectory) }
}
