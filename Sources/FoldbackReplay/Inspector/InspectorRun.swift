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
            let server = HTTPServer(
                address: try .inet(ip4: "127.0.0.1", port: port),
                timeout: InspectorLimits.answerSecondsMax, logger: .disabled, handler: handler)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await server.run() } catch let error as SocketError {
                        throw failure(error)
                    }
                }
                group.addTask { try await announce(server, access) }
                while try await group.next() != nil {}
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
            if opensBrowser { Subprocess.openInBrowser(address) }
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
        /// Opens an address in the user's browser, without a shell. A failure is reported, and the
        /// server goes on.
        static func openInBrowser(_ address: String) {
            #if os(macOS)
                let program = "open"
            #else
                let program = "xdg-open"
            #endif
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [program, address]
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
