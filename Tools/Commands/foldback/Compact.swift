import ArgumentParser
import Foldback
import FoldbackReplay
import FoldbackShell
import Foundation

struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes the old entries of a closed log, and proves that nothing else changes.",
        discussion: """
            The log then begins at a base: the documents after the last entry that was removed. \
            Entries of intents that are pending, rejected or undone stay, however old. The log is \
            written again beside itself, as LOG.compacted, and verified. Only then do the two exchange \
            their names. With --archive, the old log is moved into that folder; without it, it is \
            removed. A log that acknowledgements confirm needs an archive.

            Example: foldback compact a.log --keep-days 30
            """)

    @OptionGroup var log: DirectoryArgument

    @OptionGroup var window: WindowOption

    @Option(help: "The folder that gets the old log.")
    var archive: String?

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        guard window.window != nil else {
            throw ValidationError("give --keep-entries or --keep-days")
        }
    }

    func run() async throws {
        let done = try await Store.compact(
            at: log.directory, Documents.self, also: [AdditionalProjection(StoredDocuments.self)],
            keeping: window.window ?? .everything,
            archive: archive.map { URL(filePath: $0, directoryHint: .isDirectory) })
        try Output.write(json ? "\(JSON.object(done.json))\n" : "\(done.text)\n")
    }
}

extension Compaction {
    fileprivate var text: String {
        let removal = "\(removed) entries are removed; the log begins after entry \(base)"
        return ([removal] + held.map { "not more, because \($0)" }).joined(separator: "\n")
    }
}
