import Foundation

/// All loads of a run. The server that decides and the server that decides nothing take turns.
struct Loads {
    let directory: URL
    let rounds: Int
    let time: Duration
    let deciding: LoadedServer
    let nothing: LoadedServer

    // MARK: The disk

    /// What each group of decisions costs at least: the times of writes of a page, each flushed.
    func disk() throws -> [Measurement] {
        let file = open(directory.appending(path: "pages").path, O_CREAT | O_RDWR, 0o600)
        guard file >= 0 else { throw LoadError("a file cannot be made: \(errno)") }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4_096)
        let times = try (0..<500).map { number in
            let start = ContinuousClock.now
            guard pwrite(file, page, page.count, off_t(number % 64 * page.count)) == page.count,
                fsync(file) == 0
            else { throw LoadError("a page cannot be flushed: \(errno)") }
            return start.duration(to: .now) / .milliseconds(1)
        }.sorted()
        return [50.0, 99].map {
            Measurement(
                name: "a page of 4096 bytes, flushed, p\(Int($0))", value: times.percentile($0),
                unit: "ms", n: times.count)
        }
    }

    // MARK: Devices

    private static let sizes =
        [1, 10, 50, 200, 800].map { ($0, 1) } + [4, 16, 64, 128].map { (50, $0) }

    /// Requests of many devices.
    func devices() throws -> [Measurement] {
        var measured: [[(deciding: Devices.Round, nothing: Devices.Round)]] = []
        for _ in Self.sizes { measured.append([]) }
        for round in 1...rounds {
            note("devices, round \(round)")
            for (place, (count, intents)) in Self.sizes.enumerated() {
                let devices = Devices(count: count, intentsOfRequest: intents)
                let space = "devices-\(count)-\(intents)-\(round)"
                let first = try devices.round(
                    on: deciding, space: space, answerBytes: 0, time: time)
                let second = try devices.round(
                    on: nothing, space: space, answerBytes: first.answerBytes, time: time)
                measured[place].append((first, second))
            }
        }
        return zip(Self.sizes, measured).flatMap { size, rounds in
            let name = "devices: \(size.0), intents a request: \(size.1)"
            let ratios = rounds.map { $0.deciding.perSecond / $0.nothing.perSecond }
            return Self.figures(
                "\(deciding.kind.rawValue), \(name)", rounds.map(\.deciding),
                note: "\(ratios.median.text) of HTTP that decides nothing", aims: Self.aims[name])
                + Self.figures("\(nothing.kind.rawValue), \(name)", rounds.map(\.nothing))
        }
    }

    private struct Aims {
        var perSecond: Double?
        var p50: Double?
        var p99: Double?
    }

    private static let aims = [
        "devices: 1, intents a request: 1": Aims(p50: 1),
        "devices: 200, intents a request: 1": Aims(perSecond: 8_000),
        "devices: 50, intents a request: 64": Aims(perSecond: 25_000, p99: 100),
    ]

    private static func figures(
        _ name: String, _ rounds: [Devices.Round], note: String = "", aims: Aims? = nil
    ) -> [Measurement] {
        let samples = rounds.map(\.latencies.count).reduce(0, +)
        let use = rounds.sorted { $0.perSecond < $1.perSecond }[rounds.count / 2].use.words
        var speed = rounds.map(\.perSecond).measurement(
            name, unit: "intents/s", each: "rounds", samples: samples)
        speed.note = [note, speed.note, use].filter { !$0.isEmpty }.joined(separator: "; ")
        if let aim = aims?.perSecond { speed = speed.judged(by: .atLeast(aim)) }
        let times = [(50.0, aims?.p50), (99, aims?.p99)].map { percent, aim in
            let figure = rounds.map { $0.latencies.percentile(percent) }.measurement(
                "\(name), p\(Int(percent))", unit: "ms", each: "rounds", samples: samples)
            return aim.map { figure.judged(by: .atMost($0)) } ?? figure
        }
        return [speed] + times
    }

    // MARK: From device to device

    /// An intent of one device, until another device has its effect.
    func propagation() throws -> [Measurement] {
        var measured: [(LoadedServer.Kind, latencies: [Double])] = []
        for round in 1...rounds {
            note("from device to device, round \(round)")
            let space = "propagation-\(round)"
            let first = try Propagation.round(
                on: deciding, space: space, count: 500, answerBytes: (0, 0))
            let second = try Propagation.round(
                on: nothing, space: space, count: 500, answerBytes: first.answerBytes)
            measured += [(.deciding, first.latencies), (.nothing, second.latencies)]
        }
        return LoadedServer.Kind.allCases.flatMap { kind in
            let rounds = measured.filter { $0.0 == kind }.map(\.latencies)
            return [(50.0, 3.0), (99, 20)].map { percent, aim in
                let figure = rounds.map { $0.percentile(percent) }.measurement(
                    "\(kind.rawValue), sent until in another device's poll, p\(Int(percent))",
                    unit: "ms", each: "rounds", samples: rounds.map(\.count).reduce(0, +))
                return kind == .deciding ? figure.judged(by: .atMost(aim)) : figure
            }
        }
    }

    // MARK: Waiting polls

    /// The memory of many long polls that wait.
    func waitingPolls(_ count: Int) throws -> [Measurement] {
        try [deciding, nothing].flatMap { server in
            note("waiting polls, \(server.kind.rawValue)")
            let result = try WaitingPolls(count: count).run(on: server, space: "polls")
            let name = "\(server.kind.rawValue), waiting polls: \(count.grouped)"
            func size(_ words: String, _ value: Double, _ before: Double) -> Measurement {
                Measurement(
                    name: "\(name), \(words)", value: value, unit: "MiB", n: 1,
                    note: "\(before.text) without them")
            }
            let (before, during) = (result.before, result.during)
            let anonymous = size("RssAnon", during.anonymous, before.anonymous)
            return [
                server.kind == .deciding ? anonymous.judged(by: .atMost(400)) : anonymous,
                size("VmRSS", during.resident, before.resident),
                Measurement(
                    name: "\(name), until the last has an effect", value: result.seconds, unit: "s",
                    n: 1),
            ]
        }
    }

    // MARK: Catching up

    private static let fillers = Devices(count: 50, intentsOfRequest: 64)

    /// A new device fetches everything. Then the server of this space is killed.
    func catchUp(_ effects: Int) async throws -> [Measurement] {
        let space = "catch-up"
        note("making \(effects.grouped) effects")
        let ofRequests = Self.fillers.count * Self.fillers.intentsOfRequest
        // The first request of each device is not counted by the round.
        let filling = try Self.fillers.round(
            on: deciding, space: space, answerBytes: 0, time: .seconds(1_800),
            requestsMax: (effects + ofRequests - 1) / ofRequests - 1)
        let all = (effects + ofRequests - 1) / ofRequests * ofRequests
        let device = CatchUp(server: deciding, space: space, directory: directory)
        let name = "catch-up with \(all.grouped) effects"
        var (whole, alone, raw): ([Double], [Double], [Double]) = ([], [], [])
        var (use, pages) = ("", "")
        for round in 1...(rounds + 1) / 2 {
            note("catching up, round \(round)")
            let fetched = try await device.fetchIntoStore(from: deciding.port)
            let read = try device.fetchAlone(through: fetched.through)
            whole.append(fetched.seconds)
            alone.append(read.seconds)
            raw.append(
                try CatchUp.fetchNothing(from: nothing, pages: read.pages, bytes: read.bytes))
            use = fetched.use.words
            pages = "\(read.pages.grouped) pages, \((read.bytes >> 20).grouped) MiB"
        }
        var durable = whole.measurement(
            "HTTP, \(name), until durable", unit: "s", each: "rounds")
        durable.note += "; \(use.replacing("load", with: "device"))"
        var read = alone.measurement("HTTP, \(name), pages alone", unit: "s", each: "rounds")
        read.note += "; \(pages)"
        return [
            durable.judged(by: .atMost(20 * Double(all) / 1e6)), read,
            raw.measurement(
                "HTTP that decides nothing, \(name), pages alone", unit: "s", each: "rounds"),
            Measurement(
                name: "HTTP, making these effects", value: filling.perSecond, unit: "intents/s",
                n: filling.latencies.count, note: filling.use.words),
        ] + (try restarts(space, all))
    }

    // MARK: Restarts

    /// The time from a kill until the next intent is accepted.
    private func restarts(_ space: String, _ decisions: Int) throws -> [Measurement] {
        try [deciding, nothing].map { server in
            note("kills, \(server.kind.rawValue)")
            var request = Numbered(
                server.submission(
                    Devices.body(device: Self.fillers.count, 1), to: space, answerBytes: 150),
                numberCount: 1)
            var times: [Double] = []
            for _ in 0..<7 {
                let start = ContinuousClock.now
                try server.restart()
                let verdict = try Connection(to: server.port).exchange(request.next())
                times.append(start.duration(to: .now) / .milliseconds(1))
                guard server.kind == .nothing || verdict.first("\"accepted\":{") != nil else {
                    throw LoadError("an intent after a restart was not accepted")
                }
            }
            let words = server.kind == .deciding ? ", \(decisions.grouped) decisions" : ""
            let figure = times.measurement(
                "\(server.kind.rawValue), killed\(words), until its first answer", unit: "ms",
                each: "kills")
            return server.kind == .deciding ? figure.judged(by: .atMost(1_000)) : figure
        }
    }
}
