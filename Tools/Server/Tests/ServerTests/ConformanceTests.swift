import Foundation
import Processes
import Testing

/// Question: do the servers keep the contract over a socket, and does `conform` say so?
@Suite struct ConformanceTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func file(_ name: String, _ text: String) throws -> String {
        let file = folder.url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func conform(
        _ server: TestServer, token: String, _ options: [String] = []
    ) async throws -> ProcessEnd {
        let words = [
            executable("conform"), server.address.absoluteString, "--token-file",
            try file("token", token + "\n"), "--accepted",
            try file("accepted.json", #"{"op":"set","key":"item $N","value":"$N"}"#),
        ]
        return try await onThread { try run(words + options, secondsMax: 120) }
    }

    @Test func `the server of documents conforms`() async throws {
        let server = try await TestServer.start(in: folder)
        let end = try await conform(server, token: try await TestServer.token("ann", in: folder))
        #expect(end.isSuccess, "\(end.output)\(end.errors)")
        #expect(end.output.contains("15 passed, 0 failed"))
    }

    @Test func `a server of an app's own rules conforms, also with intents that it refuses`()
        async throws
    {
        let server = try await TestServer.start("feed-server", in: folder)
        let token = try await TestServer.token("ann", in: folder)
        let words = [
            executable("conform"), server.address.absoluteString, "--token-file",
            try file("token", token), "--accepted",
            try file(
                "accepted.json", #"{"by":"ann","did":{"posted":{"_0":"post $N"}}}"#),
            "--refused",
            try file("refused.json", #"{"by":"bob","did":{"posted":{"_0":"post $N"}}}"#),
        ]
        let end = try await onThread { try run(words, secondsMax: 120) }
        #expect(end.isSuccess, "\(end.output)\(end.errors)")
        #expect(end.output.contains("17 passed, 0 failed"))
    }

    @Test func `the server in Python conforms`() async throws {
        let server = try await TestServer.startReference(in: folder)
        let end = try await conform(
            server, token: "secret",
            [
                "--refused",
                try file("refused.json", #"{"op":"set","key":"locked-$N","value":1}"#),
                "--unlocking",
                try file("unlocking.json", #"{"op":"set","key":"unlock-$N","value":1}"#),
            ])
        #expect(end.isSuccess, "\(end.output)\(end.errors)")
        #expect(end.output.contains("17 passed, 0 failed"))
    }

    @Test func `a server that decides what it should postpone is found`() async throws {
        let server = try await TestServer.start(in: folder)
        let event = try file("postponed.json", #"{"op":"set","key":"waits $N","value":1}"#)
        let end = try await conform(
            server, token: try await TestServer.token("ann", in: folder),
            ["--postponed", event, "--settling", event])
        #expect(end.status == 1)
        #expect(end.output.contains("A4: a postponed intent is decided later"), "\(end.output)")
        let alone = try await conform(server, token: "x", ["--postponed", event])
        #expect(alone.errors.contains("--postponed and --settling need each other"))
    }

    @Test func `a server that is not there fails every check`() async throws {
        let server = try await TestServer.start(in: folder)
        _ = try await server.stop()
        let end = try await conform(server, token: "x")
        #expect(end.status == 1)
        #expect(end.output.contains("0 passed"))
    }

    @Test func `wrong arguments are named`() async throws {
        let server = try await TestServer.start(in: folder)
        let plain = try file("plain.json", #"{"op":"set"}"#)
        for (options, words) in [
            (["--accepted", plain], "$N"), (["--unlocking", plain], "--unlocking needs --refused"),
            (["--accepted", "/none.json"], "cannot be read"),
        ] {
            let end = try await conform(server, token: "x", options)
            #expect(end.status == 64)
            #expect(end.errors.contains(words), "\(end.errors)")
        }
    }
}
