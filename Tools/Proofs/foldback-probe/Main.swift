import Foldback
import Foundation

/// Runs the part of a test that may crash its process.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            let rest = arguments.dropFirst(2)
            guard arguments.first != "peak" else { return try PeakProbe.run(arguments.dropFirst()) }
            if arguments.first == "successor", let log = arguments.dropFirst().first {
                if let story = arguments.dropFirst(2).first {
                    return try await SuccessorProbe.run(
                        URL(filePath: log), losing: story,
                        bringing: rest.last == "pending" ? .pending : .pendingAndConfirmed)
                }
                return try await SuccessorProbe.run(URL(filePath: log))
            }
            if arguments.first == "keeping", let log = arguments.dropFirst().first {
                return try await KeepingProbe.run(URL(filePath: log))
            }
            if arguments == ["read"] { return ReadProbe.run() }
            if arguments.first == "begin", let log = arguments.dropFirst().first {
                return try await SignInProbe.begin(URL(filePath: log))
            }
            if arguments.first == "sign-in", let account = arguments.dropFirst().first,
                let local = rest.first
            {
                return try await SignInProbe.run(URL(filePath: account), URL(filePath: local))
            }
            if arguments.first == "decide" {
                return try await SpaceProbe.run(arguments.dropFirst())
            }
            if arguments.first == "poison" {
                return try await PoisonProbe.run(arguments.dropFirst())
            }
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
                           foldback-probe successor LOG [backup|nothing [pending]]
                           foldback-probe begin LOG
                           foldback-probe keeping LOG
                           foldback-probe read
                           foldback-probe sign-in ACCOUNT LOCAL
                           foldback-probe poison LOG BOOK ordered|concurrent POISON
                           foldback-probe decide DIRECTORY FIRST COUNT BYTES alone|spaces
                           foldback-probe peak FILE COMMAND...

                    """.utf8))
            exit(2)
        }
    }
}

struct WrongUse: Error {}

func say(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
