#if ReplayTool
    import FlyingFox
    import FlyingSocks
    import Foldback
    import Foundation

    /// One run of the inspector's server, from its first line of output to the end of the process.
    struct InspectorRun: Sendable {
        let log: InspectedLog
        /// 0 lets the system choose.
        let port: UInt16
        let opensBrowser: Bool

        func run() async throws {
            let access = InspectorAccess()
            let handler = InspectorServer(
                access: access, answers: InspectorAnswers(log), page: Page.inspector())
            let server = try server(on: port, handler)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await serve(server, handler) }
                group.addTask { try await announce(server, access) }
                while try await group.next() != nil {}
            }
        }

        private func server(on port: UInt16, _ handler: InspectorServer) throws -> HTTPServer {
            HTTPServer(
                config: HTTPServer.Configuration(
                    address: try .inet(ip4: "127.0.0.1", port: port),
                    timeout: InspectorLimits.answerSecondsMax,
                    sharedRequestReplaySize: InspectorLimits.drainedBytesMax,
                    pool: ImpatientSocketPool(), logger: .disabled),
                handler: handler)
        }

        /// Serves until the process ends. FlyingFox stops if it cannot accept a connection, for
        /// example because the process has too many open files. It has closed its connections
        /// then, and the server starts again.
        private func serve(_ first: HTTPServer, _ handler: InspectorServer) async throws {
            var server = first
            while true {
                do { return try await server.run() } catch let error as SocketError {
                    guard case .failed("Accept", let code, _) = error, handler.access.port != 0
                    else { throw failure(error) }
                    Output.note(
                        "a connection was not accepted: \(String(cString: strerror(code))); all connections were closed, and the server goes on"
                    )
                }
                try await Task.sleep(for: InspectorLimits.acceptPause)
                server = try self.server(on: handler.access.port, handler)
            }
        }

        /// Prints the address as soon as the server listens.
        private func announce(_ server: HTTPServer, _ access: InspectorAccess) async throws {
            // If the server cannot listen, its own error is the one to report.
            guard (try? await server.waitUntilListening(timeout: 60)) != nil,
                case .ip4(_, let port) = await server.listeningAddress
            else { return }
            access.listens(on: port)
            let address = "http://127.0.0.1:\(port)/?token=\(access.token)"
            try Output.line(address)
            if opensBrowser { try await open(address, access) }
        }

        /// Opens an address in the user's browser, through a file that only the user may read.
        ///
        /// Every user of this machine can read the arguments of a process, and so the address must
        /// not be among them. The file goes as soon as the browser has opened the address.
        private func open(_ address: String, _ access: InspectorAccess) async throws {
            let file = try VanishingFile(extension: "html")
            defer { file.remove() }
            try file.write(Subprocess.page(leadingTo: address))
            Subprocess.openInBrowser(file.path)
            let clock = ContinuousClock()
            let end = clock.now + InspectorLimits.openingWaitMax
            while !access.wasOpened, clock.now < end {
                try await Task.sleep(for: InspectorLimits.openingPause)
            }
        }

        private func failure(_ error: SocketError) -> StreamFailure {
            let reason =
                if case .failed(_, let code, _) = error {
                    String(cString: strerror(code))
                } else { "\(error)" }
            return StreamFailure(
                "port \(port) of 127.0.0.1 cannot be used: \(reason); give another --port, or none")
        }
    }

    extension Subprocess {
        /// Returns a page that leads the browser to an address at once. It has no script, because a
        /// policy may forbid scripts.
        ///
        /// - Parameter address: an address or path without characters that HTML escapes.
        static func page(leadingTo address: String) -> [UInt8] {
            Array(
                """
                <!DOCTYPE html><meta charset="utf-8"><title>Inspector</title>
                <meta http-equiv="refresh" content="0; url=\(address)">

                """.utf8)
        }

        /// Opens a file in the user's browser, without a shell. A failure is reported, and the
        /// server goes on.
        static func openInBrowser(_ path: String) {
            #if os(macOS)
                let program = "open"
            #else
                let program = "xdg-open"
            #endif
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [program, path]
            process.standardInput = FileHandle.nullDevice
            // Standard output has only the address.
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            process.terminationHandler = { process in
                guard process.terminationStatus != 0 else { return }
                Output.note("\(program) failed; open the address in a browser yourself")
            }
            do { try process.run() } catch {
                Output.note("\(program) cannot be run: \(error.localizedDescription)")
            }
        }
    }
#endif
