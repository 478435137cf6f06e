import Foundation
import Processes
import Testing

/// Question: what is left of intents when processes are killed, and the network is bad?
///
/// `server-demo` counts each answer that a device received, and each effect on the server.
@Suite(.serialized) struct FaultTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func story(_ options: String...) async throws -> ProcessEnd {
        let words = [
            executable("server-demo"), "--directory", folder.url.appending(path: "story").path,
        ]
        return try await onOwnThread { try run(words + options, secondsMax: 300) }
    }

    private func requireClean(_ end: ProcessEnd) {
        print(end.output)
        #expect(end.isSuccess, "\(end.output)\(end.errors)")
        #expect(end.output.contains("lost 0, decided twice 0, moved 0"))
        #expect(end.output.contains("both devices and the server have the same documents"))
    }

    /// With full effort, 200.
    @Test func `40 kills of a server under load lose nothing and decide nothing twice`()
        async throws
    {
        let isFull = ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] == "full"
        let kills = isFull ? 200 : 40
        let end = try await story("--kills", "\(kills)", "--server-only")
        requireClean(end)
        #expect(
            number(in: end, "kills of the server came") ?? 0 >= kills - kills / 20, "\(end.output)")
        #expect(number(in: end, "intents recorded") ?? 0 >= 1_000, "\(end.output)")
    }

    /// Returns the first number of the line that has `words`.
    private func number(in end: ProcessEnd, _ words: String) -> Int? {
        end.output.split(separator: "\n").first { $0.contains(words) }?
            .split(separator: " ").lazy.compactMap { Int($0) }.first
    }

    @Test func `killed devices and a killed server agree at the end`() async throws {
        requireClean(try await story("--kills", "60"))
    }

    /// A background task has some seconds, and then the system ends the process.
    @Test func `S6: devices that are killed at the end of a drain lose and repeat nothing`()
        async throws
    {
        let end = try await story("--kills", "60", "--network", "--drain", "100")
        requireClean(end)
        #expect(number(in: end, "intents recorded") ?? 0 >= 500, "\(end.output)")
        let words = end.output.split(separator: "\n").first { $0.contains("ended by their time") }
        let counts = (words ?? "").split(separator: " ").compactMap { Int($0) }
        // The time of a kill is chosen at random, from 20 ms before the end of a drain to 20 ms after it.
        #expect(counts.count == 2 && counts.allSatisfy { $0 > 0 }, "\(end.output)")
    }

    @Test func `a network that loses, delays, repeats and cuts loses and repeats nothing`()
        async throws
    {
        let end = try await story("--kills", "20", "--network")
        requireClean(end)
        #expect(number(in: end, "of them cut") ?? 0 > 40, "\(end.output)")
    }
}
