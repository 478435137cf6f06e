import ArgumentParser
import Foldback
import FoldbackShell
import Foundation

/// Looks at logs and drives them.
struct FoldbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback",
        abstract: "Looks at Foldback logs, and drives them by JSON lines.",
        discussion: """
            Exit codes: 0 done, 1 the answer is no, 2 wrong use, 3 the log cannot be used.

            Example: foldback log ~/Library/feed.log
            """,
        subcommands: [Shell.self, Log.self, Status.self, Verify.self])
}

@main
struct Main {
    /// ArgumentParser's own `main` exits with 64 for wrong use, and prints several lines.
    static func main() async {
        do {
            var command = try FoldbackCommand.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as FoldbackError {
            fail(error.description, code: error.isWrongUse ? 2 : 3)
        } catch let error as StreamFailure {
            fail(error.description, code: 3)
        } catch {
            guard FoldbackCommand.exitCode(for: error) != .success else {
                print(FoldbackCommand.fullMessage(for: error))
                return
            }
            fail("\(FoldbackCommand.message(for: error)); see foldback --help", code: 2)
        }
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        let line = message.split(separator: "\n").joined(separator: " ")
        FileHandle.standardError.write(Data("foldback: \(line)\n".utf8))
        exit(code)
    }
}

extension FoldbackError {
    fileprivate var isWrongUse: Bool {
        switch self {
        case .kindDiffers: true
        default: false
        }
    }
}

/// Where the log is.
struct LogArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"))
    var path: String

    var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }
}

extension LogKind: @retroactive ExpressibleByArgument {}
extension Durability: @retroactive ExpressibleByArgument {}
