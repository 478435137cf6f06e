import ArgumentParser
import Foundation

/// Puts the source mutants into a copy of the sources.
struct Prepare: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts all source mutants into a copy of the sources.")

    /// The environment variable that holds the index of the active mutant.
    static let variable = "FOLDBACK_MUTANT"

    @Argument(help: "The folder Sources of the copy.") var sources: String

    func run() throws {
        let root = URL(filePath: sources, directoryHint: .isDirectory)
        var files = try MutatedFiles(under: root)
        for (index, mutant) in mutants.enumerated() {
            guard case .source(let marker, let change, _) = mutant.fault else { continue }
            do {
                try files.apply(change, at: marker, while: "(ActiveMutant.index == \(index))")
            } catch {
                throw ValidationError("mutant \"\(mutant.name)\", marker \(marker): \(error)")
            }
        }
        try files.write()
        // Each module has its own, so that none of them must import another one for it. Inlinable
        // functions use it too.
        let switchFile = """
            import Foundation

            @usableFromInline enum ActiveMutant {
                @usableFromInline static let index: Int =
                    ProcessInfo.processInfo.environment["\(Self.variable)"].flatMap(Int.init) ?? -1
            }

            """
        for module in try FileManager.default.contentsOfDirectory(atPath: root.path)
        where module.hasPrefix("Foldback") {
            try switchFile.write(
                to: root.appending(path: "\(module)/ActiveMutant.swift"), atomically: true,
                encoding: .utf8)
        }
    }
}

/// The Swift files that mutants change.
private struct MutatedFiles {
    private var lines: [URL: [String]] = [:]

    init(under root: URL) throws {
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        for case let file as URL in files?.allObjects ?? [] where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            lines[file] = text.components(separatedBy: "\n")
        }
    }

    mutating func apply(
        _ change: Change, at marker: String, while isActive: String
    ) throws(MarkerError) {
        let comment = "  // mutant: \(marker)"
        let places = lines.flatMap { file, lines in
            lines.indices.filter { lines[$0].hasSuffix(comment) }.map { (file, $0) }
        }
        guard places.count == 1, let (file, first) = places.first else {
            throw .count(places.count)
        }
        guard var code = lines[file] else { preconditionFailure("\(file) has no lines") }
        code[first].removeLast(comment.count)
        // The marked code ends with the line that closes its last bracket.
        let last = code.indices[first...].first {
            code[first...$0].joined(separator: "\n")[...].isClosed
        }
        let range = first...(last ?? first)
        let marked = code[range].joined(separator: "\n")
        guard let changed = MarkedCode(marked[...]).changed(by: change, while: isActive),
            changed != marked
        else { throw .noPlace(marked) }
        code.replaceSubrange(range, with: changed.components(separatedBy: "\n"))
        lines[file] = code
    }

    func write() throws {
        for (file, lines) in lines {
            try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        }
    }
}

private enum MarkerError: Error, CustomStringConvertible {
    case count(Int)
    case noPlace(String)

    var description: String {
        switch self {
        case .count(let count):
            "the marker must end one line in Sources, and it ends \(count); change the marker or the mutant"
        case .noPlace(let code): "the change does not fit the marked code, which is:\n\(code)"
        }
    }
}
