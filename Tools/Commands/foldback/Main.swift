import ArgumentParser
import Foldback
import FoldbackReplay
import FoldbackServer

/// The tool `foldback`: the commands of every replay tool, over documents, and the commands listed
/// here.
@main
struct FoldbackTool: ReplayTool {
    static let name = "foldback"
    static let projections = [
        ReplayProjection(Documents.self), ReplayProjection(StoredDocuments.self),
        // The log of a space of foldback-server.
        ReplayProjection(Decided<Documents>.self), ReplayProjection(DecisionIndex<Documents>.self),
    ]

    /// The commands that only `foldback` has. The commands of every replay tool, such as `log` and
    /// `why`, are listed in `ReplayCommand` (Sources/FoldbackReplay/ReplayTool.swift).
    ///
    /// To add `foldback count LOG`:
    /// 1. Add the file Count.swift to this folder, with `struct Count: ParsableCommand` as in the
    ///    example of `ReplayTool.commands`. The command is named after the type, in lower case.
    ///    Give it a `configuration` with an abstract and an example, as `Wipe` has.
    /// 2. Declare `@OptionGroup var log: LogArgument`, and read with `log.reader()`. The command
    ///    then takes logs and files of `export`. Use `DirectoryArgument` if it needs a log.
    /// 3. Print with `Output.write`. Throw errors, and throw `ExitCode(1)` if the answer is no:
    ///    `ReplayTool.main` prints an error as one line, and chooses the exit code.
    /// 4. Add `Count.self` to this list.
    static let commands: [any ParsableCommand.Type] = [
        Compact.self,
        Shell.self,
        Sync.self,
        Wipe.self,
    ]
}

extension LogKind: @retroactive ExpressibleByArgument {}
extension Durability: @retroactive ExpressibleByArgument {}
