import Foldback
import Foundation

/// A state of a server from which a downlink log begins, for tests: "of the server" is 1, through
/// position 7.
public enum ServerState {
    public static let through: Position = 7

    /// Begins a log, also if a log is there.
    public static func begin(at log: URL) async throws {
        guard let lineage = Lineage("server") else { preconditionFailure("a lineage was refused") }
        var documents = Documents()
        try documents.apply(.set("of the server", 1), EventContext(.position(1)))
        try await Store<Documents>.begin(
            at: log, from: [.value(documents)], through: through, of: lineage)
    }
}
