import Foundation

/// What tests run in a process of its own, because that process may come to grief.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "damage": try await DamageProbe.run(arguments.dropFirst())
            case "faults": try await FaultProbe.run(arguments.dropFirst())
            default: throw WrongUse()
            }
        } catch is WrongUse {
            FileHandle.standardError.write(
                Data(
                    """
                    usage: foldback-probe damage LOG SCRATCH flip|zero FIRST LAST STEP
                           foldback-probe faults LOG ROUNDS BYTES

                    """.utf8))
            exit(2)
        }
    }
}

struct WrongUse: Error {}

func say(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
