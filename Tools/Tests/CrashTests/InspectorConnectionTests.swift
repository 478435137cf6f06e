import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what a client can do before the inspector knows who it is.
@Suite(.serialized) struct InspectorConnectionTests {
    private let directory = DiskDirectory()

    private func inspector() throws -> InspectorProcess {
        try ReplayStory.makeLog(directory.log)
        return try InspectorProcess([directory.log.path])
    }

    @Test func `a body of a stranger is not read, and the server goes on`() throws {
        let inspector = try inspector()
        let file = directory.url.appending(path: "body.json")
        for bytes in [100, 10_000, 60_000] {
            try Data(repeating: UInt8(ascii: " "), count: bytes).write(to: file)
            for cookie in [nil, "none=none"] {
                let refused = try inspector.send(
                    "/api/what-if",
                    ["-H", "Content-Type: application/json", "--data-binary", "@\(file.path)"],
                    cookie: cookie)
                #expect(refused.status == (cookie == nil ? 400 : 401), "\(bytes): \(refused)")
            }
            #expect(try inspector.send("/api/head").status == 200)
        }
        // The server answers before it has the rest of a large body, and ends the connection.
        let client = try Client(inspector.port)
        client.send(
            "POST /api/what-if HTTP/1.1\r\nHost: 127.0.0.1:\(inspector.port)\r\n"
                + "Content-Length: 1000000\r\n\r\n{")
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 401 "))
        #expect(try inspector.send("/api/head").status == 200)
    }

    /// Each answer but the first of a connection took 43 ms: the head and the body were two packets, and
    /// the second waited until the client acknowledged the first.
    @Test func `an answer does not wait for an acknowledgement of its head`() throws {
        let inspector = try inspector()
        let paths = [String](repeating: "head", count: 20).joined(separator: ",")
        let seen = try run([
            "curl", "-sS", "-b", inspector.cookie, "-o", "/dev/null", "-w", "%{time_total}\n",
            "http://127.0.0.1:\(inspector.port)/api/{\(paths)}",
        ])
        let seconds = seen.output.split(separator: "\n").compactMap { Double($0) }
        // An acknowledgement that nothing asks for comes after 40 ms.
        let later = try #require(seconds.dropFirst().min(), "\(seen)")
        #expect(seconds.count == 20 && later < 0.035, "\(seconds)")
    }

    @Test func `the address also opens from a file, which sends no strict cookie on`() throws {
        let inspector = try inspector()
        let opened = try inspector.send(
            "/?token=\(inspector.token)", ["-H", "Sec-Fetch-Site: cross-site"], cookie: "none=none")
        #expect(opened.status == 200, "\(opened)")
        #expect(opened.header("Set-Cookie")?.hasPrefix(inspector.cookie) == true)
        #expect(opened.body.contains(#"<meta http-equiv="refresh" content="0; url=/">"#))
        #expect(!opened.body.contains(inspector.token))
        let refused = try inspector.send(
            "/?token=0", ["-H", "Sec-Fetch-Site: cross-site"], cookie: "none=none")
        #expect(refused.status == 401 && refused.header("Set-Cookie") == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `the browser gets a file that only its user may read, and that goes`() throws {
        try ReplayStory.makeLog(directory.log)
        let pipe = directory.url.appending(path: "opened").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let programs = directory.url.appending(path: "programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        let program = programs.appending(path: "xdg-open")
        try "#!/bin/sh\n{ echo \"$@\"; stat -c %a \"$1\"; cat \"$1\"; } > '\(pipe)'\n"
            .write(to: program, atomically: true, encoding: .utf8)
        #expect(chmod(program.path, 0o700) == 0)
        let inspector = try InspectorProcess(
            [directory.log.path, "--open"], path: "\(programs.path):/usr/bin:/bin")
        let output = try #require(FileHandle(forReadingAtPath: pipe))
        let seen = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
            .split(separator: "\n")
        let file = try #require(seen.first.map(String.init))
        #expect(file.hasSuffix(".html") && !file.contains(inspector.token), "\(seen)")
        #expect(seen.dropFirst().first == "600", "\(seen)")
        let address = "http://127.0.0.1:\(inspector.port)/?token=\(inspector.token)"
        #expect(seen.last == "<meta http-equiv=\"refresh\" content=\"0; url=\(address)\">")
        #expect(try inspector.send("/?token=\(inspector.token)").status == 303)
        while FileManager.default.fileExists(atPath: file) {
            #expect(try inspector.send("/").status == 200)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the server goes on after it had too many connections`() throws {
        try ReplayStory.makeLog(directory.log)
        let inspector = try InspectorProcess([directory.log.path], descriptors: 64)
        #expect(try inspector.send("/api/head").status == 200)
        // The server closes all of them when it cannot accept the last. Until it listens again, it
        // refuses connections.
        let clients = (1...100).compactMap { _ in try? Client(inspector.port) }
        #expect(try #require(clients.first).readToEnd().isEmpty)
        let address = "http://127.0.0.1:\(inspector.port)/api/head"
        let seen = try run([
            "curl", "-sS", "--retry", "100", "--retry-all-errors", "--retry-delay", "1", "-b",
            inspector.cookie, address,
        ])
        #expect(try JSON(parsing: seen.output)["tool"] == "foldback", "\(seen)")
    }
}

/// A connection whose bytes the test writes.
private final class Client {
    private let descriptor: Int32

    /// The server refused the connection.
    struct Refused: Error {}

    init(_ port: Int) throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Refused() }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// Returns what the server sends until it ends the connection.
    func readToEnd() -> String {
        var found: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { return String(decoding: found, as: UTF8.self) }
            found += piece[..<count]
        }
    }
}
