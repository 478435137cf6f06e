import ArgumentParser
import Foldback
import FoldbackReplay
import Foundation

struct Wipe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Removes a closed log with everything in it, and finishes a wipe that was cut off.",
        discussion: """
            The command refuses while the log has pending intents, or cannot be read, unless you \
            discard them. It first renames the directory to .wiped-..., so nothing opens half a log. \
            It also removes the logs that LOG has continued: LOG.kept-.... \
            If nothing is at LOG, it says so, and removes what earlier wipes left beside it.

            Example: foldback wipe a.log
            """)

    @OptionGroup var log: DirectoryArgument

    @Flag(help: "Also remove a log with pending intents, or one that cannot be read.")
    var discardPending = false

    func run() async throws {
        let path = log.directory.path
        let isThere = FileManager.default.fileExists(atPath: path)
        try await Store<Documents>.wipe(at: log.directory, discardingPending: discardPending)
        try Output.write(isThere ? "The log is removed.\n" : "Nothing was there.\n")
    }
}
