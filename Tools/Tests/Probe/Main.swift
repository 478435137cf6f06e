import Foldback
import Foundation

/// Runs the part of a test that may crash its process.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            let rest = arguments.dropFirst(2)
            switch (arguments.first, arguments.dropFirst().first) {
            case ("damage", "memory"): try await DamageProbe<Documents>.run(rest)
            case ("damage", "rows"): try await DamageProbe<StoredDocuments>.run(rest)
            case ("faults", "memory"): try await FaultProbe<Documents>.run(rest)
            case ("faults", "rows"): try await FaultProbe<StoredDocuments>.run(rest)
            default: throw WrongUse()
            }
        } catch is WrongUse {
            FileHandle.standardError.write(
                Data(
                    """
                    usage: foldback-probe damage memory|rows LOG SCRATCH flip|zero FIRST LAST STEP
                           foldback-probe faults memory|rows LOG ROUNDS BYTES

                    """.utf8))
            exit(2)
        }
    }
}

struct WrongUse: Error {}

func say(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
