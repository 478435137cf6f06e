import Foldback
import FoldbackShell
import Foundation

/// `foldback-probe faults STORE LOG ROUNDS BYTES`: records several intents at once, and prints the
/// result that each caller got.
///
/// In each round, six callers at once record two intents each, one after the other. So the writer
/// expects the callers that it has resumed, and their second intents join its next transaction. Each
/// intent sets its own key to a text of BYTES bytes. Then the round acknowledges intent 1, and every
/// third round writes a checkpoint.
///
/// The lines are `KEY recorded NUMBER`, `KEY unknown NUMBER FAILURE` (L6), `KEY latched FAILURE` if
/// the store takes no more intents, or `KEY refused ERROR` if only this intent was not recorded. The
/// last line is `view KEYS` with all keys of the view, or
/// `unseen FAILURE` if the view cannot be read. If the log cannot be opened, the only line is
/// `closed ERROR`.
///
/// STORE says where documents are kept: `memory` or `rows`.
enum FaultProbe<P: ShownDocuments> {
    private static var callersPerRound: Int { 6 }
    private static var intentsPerCaller: Int { 2 }

    static func run(_ arguments: ArraySlice<String>) async throws {
        let arguments = Array(arguments)
        guard arguments.count == 3, let rounds = Int(arguments[1]), let bytes = Int(arguments[2])
        else { throw WrongUse() }
        let store: Store<P>
        do throws(LogError) {
            store = try await Store.open(
                at: URL(filePath: arguments[0]), P.self, confirmedBy: .acknowledgement,
                durability: .durable, checkpoints: .manual)
        } catch {
            say("closed \(error)\n")
            return
        }
        let first = Int(store.status.nextIntent.value)
        for round in 0..<rounds {
            let start = first + round * callersPerRound * intentsPerCaller
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<callersPerRound {
                    group.addTask {
                        for intent in 0..<intentsPerCaller {
                            let key = "k\(start + caller * intentsPerCaller + intent)"
                            say(await record(key, bytes, in: store) + "\n")
                        }
                    }
                }
            }
            _ = try? await store.acknowledge(1)
            if round % 3 == 1 { try? await store.checkpoint() }
        }
        try sayView(of: store)
        await store.close()
    }

    /// Prints the view. Rows cannot be read if the outcome of the last commit is unknown.
    private static func sayView(of store: Store<P>) throws {
        do {
            let members = try P.state(of: store).documents.objectValue?.members ?? []
            say("view \(members.map(\.name.string).joined(separator: " "))\n")
        } catch LogError.latched(let failure) {
            say("unseen \(failure)\n")
        }
    }

    private static func record(
        _ key: String, _ bytes: Int, in store: Store<P>
    ) async -> String {
        do throws(CommandError) {
            let text = JSON.string(String(repeating: "x", count: bytes))
            let receipt = try await store.record(.set(ExactString(key), text))
            return "\(key) recorded \(receipt.number)"
        } catch {
            return switch error {
            case .log(.outcomeUnknown(let number?, let failure)):
                "\(key) unknown \(number) \(failure)"
            case .log(.latched(let failure)): "\(key) latched \(failure)"
            default: "\(key) refused \(error)"
            }
        }
    }
}
