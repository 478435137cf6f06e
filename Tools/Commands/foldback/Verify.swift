import ArgumentParser
import Foldback
import FoldbackHistory
import FoldbackReplay
import FoldbackShell

struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Checks a whole log: pages, entries, verdicts, checkpoints, rows; changes nothing.",
        discussion: """
            The command folds the log from its first entry, and compares checkpoints and rows with \
            the result. It compares states and rows only of Documents, not of other projections. It \
            prints one line for each thing that is wrong, with its place. The exit code is 1 if \
            something is wrong.

            Example: foldback verify a.log
            """)

    @OptionGroup var log: DirectoryArgument

    @Flag(help: "One JSON object for each thing that is wrong, then one for the whole log.")
    var json = false

    func run() throws {
        let verification = try verification()
        try Output.write(json ? verification.json : verification.text)
        if !verification.isSound { throw ExitCode(1) }
    }

    /// Returns the verification. Damage that keeps the log from opening is a finding as well.
    ///
    /// - Throws: errors that are not damage, such as a missing log.
    private func verification() throws -> Verification {
        do throws(LogError) {
            let reader = try LogReader(at: log.directory)
            defer { reader.close() }
            return try reader.verify(
                Documents.self, also: [AdditionalProjection(StoredDocuments.self)])
        } catch {
            guard let verification = Verification(error) else { throw error }
            return verification
        }
    }
}

extension Verification {
    fileprivate var text: String {
        let end =
            isSound
            ? "sound: \(entriesFolded) entries folded, \(checkpointsCompared) checkpoints compared"
            : "not sound: \(findings.count) \(findings.count == 1 ? "thing is" : "things are") wrong"
        let silent = notCompared.map { "not compared: \($0)".visible }
        return (findings.map { "\($0)".visible } + silent + [end]).joined(separator: "\n") + "\n"
    }

    fileprivate var json: String {
        let end: JSON = [
            "sound": .bool(isSound), "entries": .integer(Int64(entriesFolded)),
            "checkpoints": .integer(Int64(checkpointsCompared)),
        ]
        let findings = findings.map { finding -> JSON in
            ["place": .string("\(finding.place)"), "what": .string(finding.what)]
        }
        return (findings + [end]).map { String(decoding: $0.printed, as: UTF8.self) + "\n" }
            .joined()
    }
}
