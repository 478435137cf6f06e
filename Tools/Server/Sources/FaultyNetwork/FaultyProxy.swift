import FoldbackTesting
import Foundation
import Synchronization

/// A proxy between devices and a server that loses, delays, repeats, and cuts after any byte.
///
/// Each connection has its own faults, which its number and the seed decide.
package final class FaultyProxy: Sendable {
    /// What happens to one connection.
    private struct Faults {
        /// The bytes after which both sides are closed, in each direction; nil for none.
        var requestMax: Int?
        var answerMax: Int?
        var delay: TimeInterval = 0
        /// Whether the server gets everything once more, on another connection.
        var isRepeated = false

        init(_ random: inout SplitMix64) {
            switch random.next() % 6 {
            case 0: requestMax = Int(random.next() % 3_000)
            case 1: answerMax = Int(random.next() % 3_000)
            case 2: requestMax = 0
            case 3:
                isRepeated = true
                answerMax = Int(random.next() % 20_000)
            case 4:
                delay = Double(random.next() % 300) / 1_000
                answerMax = Int(random.next() % 20_000)
            default: (requestMax, answerMax) = (20_000, 20_000)
            }
        }
    }

    private struct State {
        var random: SplitMix64
        var isFaulty = true
        var connectionCount = 0
        var cutCount = 0
    }

    package let port: Int
    private let server: Int
    private let listener: Int32
    private let state: Mutex<State>

    package var address: URL { URL(string: "http://127.0.0.1:\(port)")! }
    /// The number of connections, and of those that were cut.
    package var counts: (connections: Int, cuts: Int) {
        state.withLock { ($0.connectionCount, $0.cutCount) }
    }

    package init(to server: Int, seed: UInt64) throws {
        self.server = server
        state = Mutex(State(random: SplitMix64(seed: seed)))
        (listener, port) = try Sockets.listen()
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                Thread.detachNewThread { self.carry(client) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// From now on, everything arrives.
    package func heal() { state.withLock { $0.isFaulty = false } }

    private func carry(_ client: Int32) {
        let faults = state.withLock { state in
            state.connectionCount += 1
            let faults = Faults(&state.random)
            return state.isFaulty ? faults : nil
        }
        guard let upstream = try? Sockets.connect(server) else {
            close(client)
            return
        }
        if let delay = faults?.delay { Thread.sleep(forTimeInterval: delay) }
        let pair = SocketPair(client, upstream)
        let answers = DispatchGroup()
        answers.enter()
        Thread.detachNewThread {
            _ = self.forward(from: upstream, to: client, faults?.answerMax, pair)
            answers.leave()
        }
        let request = forward(from: client, to: upstream, faults?.requestMax, pair)
        answers.wait()
        pair.close()
        if faults?.isRepeated == true { again(request) }
    }

    /// Forwards bytes until an end or the limit, and returns them.
    private func forward(
        from source: Int32, to target: Int32, _ limit: Int?, _ pair: SocketPair
    ) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let left = min(buffer.count, (limit ?? Int.max) - all.count)
            let count = left == 0 ? 0 : recv(source, &buffer, left, 0)
            if left == 0 { state.withLock { $0.cutCount += 1 } }
            guard count > 0, Sockets.send(buffer[..<count], to: target) else { break }
            all += buffer[..<count]
        }
        pair.shutDown()
        return all
    }

    /// Sends what a client sent a second time.
    private func again(_ request: [UInt8]) {
        guard let upstream = try? Sockets.connect(server) else { return }
        if Sockets.send(request[...], to: upstream) {
            var buffer = [UInt8](repeating: 0, count: 1 << 14)
            _ = recv(upstream, &buffer, buffer.count, 0)
        }
        close(upstream)
    }
}

/// Two sockets that end together.
private final class SocketPair: Sendable {
    private let sockets: [Int32]
    init(_ sockets: Int32...) { self.sockets = sockets }
    func shutDown() { for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
    func close() { for socket in sockets { Foundation.close(socket) } }
}
