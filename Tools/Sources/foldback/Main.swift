import ArgumentParser
import Foldback
import FoldbackReplay

/// The commands of every replay tool over documents, and a shell to drive a log with.
@main
struct FoldbackTool: ReplayTool {
    static let name = "foldback"
    static let projections = [ReplayProjection(Documents.self)]
    static let commands: [any ParsableCommand.Type] = [Shell.self, Verify.self]
}

extension LogKind: @retroactive ExpressibleByArgument {}
extension Durability: @retroactive ExpressibleByArgument {}
