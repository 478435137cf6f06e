import Foldback
import Foundation

/// Compares Foldback with GRDB on SQLite: the same outbox on the same disk, in turn.
@main
enum Main {
    private static let rounds = 5

    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        var isJSON = false
        var folder = ".build/compare"
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--directory": folder = arguments.popFirst() ?? folder
            default:
                writeError("usage: foldback-compare [--json] [--directory DIR]")
                exit(2)
            }
        }
        let name = "foldback-compare-\(ProcessInfo.processInfo.processIdentifier)"
        let directory = URL(filePath: folder, directoryHint: .isDirectory)
            .appending(path: name, directoryHint: .isDirectory)
        let files = FileManager.default
        try files.createDirectory(at: directory, withIntermediateDirectories: true)
        let result: Result<[Figure], any Error>
        do { result = .success(try await figures(in: directory)) } catch {
            result = .failure(error)
        }
        try files.removeItem(at: directory)
        let figures = try result.get()
        print(isJSON ? try figures.json() : figures.table)
    }

    /// The sides take turns, so that other load on the machine affects all of them.
    private static func figures(in directory: URL) async throws -> [Figure] {
        writeError("writing \(Message.count) messages to each")
        let full = try WithGRDB(at: directory.appending(path: "full.sqlite").path, .full)
        let durable = try await WithFoldback(at: directory.appending(path: "durable"), .durable)
        let normal = try WithGRDB(at: directory.appending(path: "normal.sqlite").path, .normal)
        let relaxed = try await WithFoldback(at: directory.appending(path: "relaxed"), .relaxed)
        let workload = Workload(time: .milliseconds(600))
        var times = Array(repeating: Times(), count: 4)
        for round in 0..<rounds {
            writeError("round \(round + 1) of \(rounds)")
            try await workload.run(full, round: round, &times[0])
            try await workload.run(durable, round: round, &times[1])
            try await workload.run(normal, round: round, &times[2])
            try await workload.run(relaxed, round: round, &times[3])
        }
        // All sides must read the same messages.
        for id in stride(from: 0, to: Message.count, by: Int(Message.count / 50)) {
            let sent = Message.sent(of: id)
            let pages = [
                try full.page(before: sent), try durable.page(before: sent),
                try normal.page(before: sent), try relaxed.page(before: sent),
            ].map { $0.map(\.id) }
            precondition(Set(pages).count == 1, "the pages before \(sent) differ: \(pages)")
        }
        try full.close()
        await durable.close()
        try normal.close()
        await relaxed.close()
        let names = ["GRDB FULL", "Foldback durable", "GRDB NORMAL", "Foldback relaxed"]
        return zip(names, times).flatMap { $1.figures(of: $0) }
    }
}

/// Writes a line to standard error. Standard output has only the figures.
private func writeError(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
