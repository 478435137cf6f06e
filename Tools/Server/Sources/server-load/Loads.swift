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
    static func disk(_ directory: URL) throws -> [Measurement] {
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
                    on: [deciding], spaces: [space], time: time)
                let second = try devices.round(
                    on: [nothing], spaces: [space], answerBytes: first.answerBytes, time: time)
                measured[place].append((first, second))
            }
        }
        return zip(Self.sizes, measured).flatMap { size, rounds in
            let name = "devices: \(size.0), intents a request: \(size.1)"
            let ratios = rounds.map { $0.deciding.perSecond / $0.nothing.perSecond }
            return rounds.map(\.deciding).figures(
                "\(deciding.name), \(name)", aims: Self.aims[name],
                note: "\(ratios.median.text) of HTTP that decides nothing")
                + rounds.map(\.nothing).figures("\(nothing.name), \(name)")
        }
    }

    private static let aims: [String: Aims] = [
        "devices: 1, intents a request: 1": Aims(p50: 1),
        "devices: 200, intents a request: 1": Aims(perSecond: 8_000),
        "devices: 50, intents a request: 64": Aims(perSecond: 25_000, p99: 100),
    ]

    // MARK: From device to device

    /// An intent of one device, until another device has its effect.
    func propagation() throws -> [Measurement] {
        var measured: [(LoadedServer.Kind, latencies: [Double])] = []
        for round in 1...rounds {
            note("from device to device, round \(round)")
            let space = "propagation-\(round)"
            let first = try Propagation.round(on: deciding, space: space, count: 500)
            let second = try Propagation.round(
                on: nothing, space: space, count: 500, answerBytes: first.answerBytes)
            measured += [(.deciding, first.latencies), (.nothing, second.latencies)]
        }
        return LoadedServer.Kind.allCases.flatMap { kind in
            measured.filter { $0.0 == kind }.map(\.latencies).percentiles(
                "\(kind.rawValue), sent until in another device's poll",
                aims: kind == .deciding ? Aims(p50: 3, p99: 20) : nil)
        }
    }

    // MARK: Waiting polls

    /// The memory of many long polls that wait.
    func waitingPolls(_ count: Int) throws -> [Measurement] {
        try [deciding, nothing].flatMap { server in
            note("waiting polls, \(server.name)")
            let result = try WaitingPolls(count: count).run(on: server, space: "polls")
            let name = "\(server.name), waiting polls: \(count.grouped)"
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

    /// A new device fetches everything. Then the server of this space is killed.
    func catchUp(_ effects: Int) async throws -> [Measurement] {
        let space = "catch-up"
        let filling = try Devices.fillers.fill(space, with: effects, on: deciding)
        let all = filling.accepted
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
            "\(deciding.name), \(name), until durable", unit: "s", each: "rounds")
        durable.note += "; \(use.replacing("load", with: "device"))"
        var read = alone.measurement(
            "\(deciding.name), \(name), pages alone", unit: "s", each: "rounds")
        read.note += "; \(pages)"
        return [
            durable.judged(by: .atMost(20 * Double(all) / 1e6)), read,
            raw.measurement(
                "HTTP that decides nothing, \(name), pages alone", unit: "s", each: "rounds"),
            Measurement(
                name: "\(deciding.name), making these effects", value: filling.perSecond,
                unit: "intents/s",
                n: filling.latencies.count, note: filling.use.words),
        ] + (try restarts(space, all))
    }

    // MARK: Restarts

    /// The time from a kill until the next intent is accepted.
    private func restarts(_ space: String, _ decisions: Int) throws -> [Measurement] {
        try [deciding, nothing].map { server in
            note("kills, \(server.name)")
            var request = Numbered(
                server.submission(
                    Devices.body(device: Devices.fillers.count, 1), to: space, answerBytes: 150),
                numberCount: 1)
            var times: [Double] = []
            for _ in 0..<7 {
                let start = ContinuousClock.now
                try server.restart()
                try server.accept(request.next())
                times.append(start.duration(to: .now) / .milliseconds(1))
            }
            let words = server.kind == .deciding ? ", \(decisions.grouped) decisions" : ""
            let figure = times.measurement(
                "\(server.name), killed\(words), until its first answer", unit: "ms",
                each: "kills")
            return server.kind == .deciding ? figure.judged(by: .atMost(1_000)) : figure
        }
    }
}
