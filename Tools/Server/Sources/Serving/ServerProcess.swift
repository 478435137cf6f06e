import CMalloc
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The process of a server.
package enum ServerProcess {
    /// Sets the limits that many open spaces and connections need.
    package static func prepare() {
        var limit = rlimit()
        #if canImport(Glibc)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        if getrlimit(files, &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(files, &limit)
        }
        // LMDB allocates 2 MB for each environment. Without a fixed threshold, glibc takes the second one
        // from the heap, and clears it, so that all of it is in memory.
        foldback_set_mmap_threshold(128 << 10)
    }

    /// Writes a line to standard output at once, also into a pipe.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    /// Returns the HTTP side of a server: its limits, and a line with the address when it listens.
    ///
    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - name: the start of the line.
    package static func application<Responder: HTTPResponder>(
        _ responder: Responder, host: String, port: Int, connectionsMax: Int, name: String,
        logger: Logger
    ) -> Application<Responder>
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        Application(
            responder: responder,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [HangUp(), BodyDeadline()],
                    idleTimeout: .seconds(75),
                    httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                        maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10,
                        maxHeaderFieldCount: 100))),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    connectionsMax, logger: logger)),
            onServerRunning: { channel in
                let bound = Configuration.Address(
                    host: host, port: channel.localAddress?.port ?? port)
                say("\(name) on http://\(bound)")
            },
            logger: logger)
    }
}
