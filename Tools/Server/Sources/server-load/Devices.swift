import Foundation
import Synchronization

/// Devices that send requests of new intents as fast as the server answers: a thread and a connection for
/// each.
struct Devices {
    let count: Int
    let intentsOfRequest: Int

    struct Round {
        let perSecond: Double
        /// The times of requests in milliseconds, ascending.
        let latencies: [Double]
        let use: ProcessorUse
        /// The size of an answer.
        let answerBytes: Int
        /// The number of intents that were accepted, with those of the first requests.
        let accepted: Int
    }

    /// Sends requests for a time, or until there were enough. Then each has been answered, and each
    /// intent was accepted.
    ///
    /// - Parameters:
    ///   - servers: the devices are spread over them.
    ///   - spaces: new spaces, because the same devices were never in them. The devices are spread over
    ///     them, too.
    ///   - answerBytes: the size of the answers of a server that decides nothing.
    ///   - requestsMax: the most requests of a device.
    func round(
        on servers: [LoadedServer], spaces: [String], answerBytes: Int = 0, time: Duration,
        requestsMax: Int = .max
    ) throws -> Round {
        let requests = (0..<count).map { device in
            let server = servers[device % servers.count]
            let body = server.submission(
                Self.body(device: device, intentsOfRequest), to: spaces[device % spaces.count],
                answerBytes: answerBytes)
            return (Numbered(body, numberCount: intentsOfRequest), port: server.port)
        }
        let isDeciding = servers[0].kind == .deciding
        let (ready, go, ended) = (DispatchGroup(), DispatchSemaphore(value: 0), DispatchGroup())
        let results = Mutex<[Result<[Double], LoadError>]>([])
        let lastBytes = Atomic(0)
        for (request, port) in requests {
            ready.enter()
            ended.enter()
            Thread.detachNewThread {
                let result = Result { () throws(LoadError) in
                    var device = Device(request, intentsOfRequest, checksVerdicts: isDeciding)
                    // The first request opens the space and the connection.
                    let connection = Result { () throws(LoadError) in
                        let connection = try Connection(to: port)
                        _ = try device.request(on: connection)
                        return connection
                    }
                    ready.leave()
                    go.wait()
                    let (start, open) = (ContinuousClock.now, try connection.get())
                    var latencies: [Double] = []
                    var last = start
                    while latencies.count < requestsMax, last < start + time {
                        let bytes = try device.request(on: open)
                        let now = ContinuousClock.now
                        latencies.append(last.duration(to: now) / .milliseconds(1))
                        last = now
                        lastBytes.store(bytes, ordering: .relaxed)
                    }
                    return latencies
                }
                results.withLock { $0.append(result) }
                ended.leave()
            }
        }
        ready.wait()
        let start = ContinuousClock.now
        let use = ProcessorUse.measure(servers) {
            for _ in requests { go.signal() }
            ended.wait()
        }
        let elapsed = start.duration(to: .now) / .seconds(1)
        let latencies = try results.withLock { try $0.flatMap { try $0.get() } }.sorted()
        return Round(
            perSecond: Double(latencies.count * intentsOfRequest) / elapsed, latencies: latencies,
            use: use, answerBytes: lastBytes.load(ordering: .relaxed),
            accepted: (latencies.count + count) * intentsOfRequest)
    }

    /// Many devices fill a space.
    static let fillers = Devices(count: 50, intentsOfRequest: 64)

    /// Fills a space with effects, or some more.
    func fill(_ space: String, with effects: Int, on server: LoadedServer) throws -> Round {
        note("making \(effects.grouped) effects")
        let ofRequests = count * intentsOfRequest
        // The first request of each device is not counted by the round.
        return try round(
            on: [server], spaces: [space], time: .seconds(1_800),
            requestsMax: (effects + ofRequests - 1) / ofRequests - 1)
    }

    /// A merge of 80 bytes into one of 1,000 documents, with the number ``Numbered/first``.
    static func event(device: Int, _ place: Int) -> String {
        """
        {"op":"merge","key":"counter \((device * 64 + place) % 1_000 + 1_000)",\
        "value":{"count":\(Numbered.first),"note":"xxxxxx"}}
        """
    }

    /// The body of a request whose intents have the number ``Numbered/first`` in place of their own.
    static func body(device: Int, _ intents: Int) -> [UInt8] {
        let texts = (0..<intents).map { place in
            """
            {"number":\(Numbered.first),"format":[1,1],"event":\(event(device: device, place)),\
            "time":1795209600000}
            """
        }
        return Array(
            """
            {"replica":"device \(device)","through":0,"intents":[\(texts.joined(separator: ","))]}
            """.utf8)
    }
}

/// One device of a load.
private struct Device {
    private var request: Numbered
    private let intents: Int
    private let checksVerdicts: Bool

    init(_ request: Numbered, _ intents: Int, checksVerdicts: Bool) {
        (self.request, self.intents, self.checksVerdicts) = (request, intents, checksVerdicts)
    }

    /// Sends the next intents. Returns the size of the answer.
    mutating func request(on connection: Connection) throws(LoadError) -> Int {
        let body = try connection.exchange(request.next())
        guard !checksVerdicts || body.count(of: "\"accepted\":{") == intents else {
            throw LoadError("not accepted: \(String(decoding: body, as: UTF8.self))")
        }
        return body.count
    }
}

/// A request whose intents get the next numbers each time that it is sent. The rest of the bytes stays.
struct Numbered {
    /// All numbers have as many digits as this.
    static let first = 100_000_000

    private var bytes: [UInt8]
    /// The places of the digits, with the number within the request.
    private var places: [(at: Int, number: Int)] = []
    private let numberCount: Int
    private(set) var last = first

    /// - Parameter numberCount: the number of intents. Each has its number twice.
    init(_ bytes: [UInt8], numberCount: Int) {
        self.bytes = bytes
        self.numberCount = numberCount
        var rest = bytes[...]
        while let found = rest.first("100000000") {
            places.append((found, places.count / 2))
            rest = rest[(found + 9)...]
        }
        precondition(places.count == numberCount * 2, "\(places.count) of \(numberCount)")
    }

    mutating func next() -> [UInt8] {
        for (start, number) in places {
            var value = last + 1 + number
            for place in stride(from: start + 8, through: start, by: -1) {
                bytes[place] = UInt8(48 + value % 10)
                value /= 10
            }
        }
        last += numberCount
        return bytes
    }
}
