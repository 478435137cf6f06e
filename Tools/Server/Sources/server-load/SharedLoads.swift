import Foundation

/// All loads of servers whose decisions are in one PostgreSQL.
struct SharedLoads {
    private let directory: URL
    private let rounds: Int
    private let time: Duration
    /// The servers end before the cluster does.
    let servers: [LoadedServer]
    private let cluster: Cluster
    /// The rounds of what takes long.
    private var fewRounds: Int { (rounds + 1) / 2 }

    /// Starts three servers.
    init(directory: URL, rounds: Int, time: Duration, cluster: Cluster) throws {
        (self.directory, self.rounds, self.time) = (directory, rounds, time)
        self.cluster = cluster
        var servers: [LoadedServer] = []
        for number in 1...3 {
            servers.append(
                try LoadedServer(
                    .deciding, in: directory.appending(path: "server-\(number)"),
                    over: cluster.connection, keyOf: servers.first))
        }
        self.servers = servers
    }

    // MARK: Devices

    private static let loads = [
        (Devices(count: 50, intentsOfRequest: 64), Aims(perSecond: 15_000, p99: 150)),
        (Devices(count: 200, intentsOfRequest: 1), Aims(perSecond: 6_000)),
    ]

    /// The server processes and the spaces. With as many spaces, each space has a process of its own.
    private static let spreads = [(1, 1), (2, 1), (3, 1), (3, 3)]

    /// Requests of many devices.
    func devices() throws -> [Measurement] {
        var measured: [String: [Devices.Round]] = [:]
        func name(_ devices: Devices, _ processes: Int, _ spaces: Int) -> String {
            """
            PostgreSQL, devices: \(devices.count), intents a request: \(devices.intentsOfRequest), \
            processes: \(processes)\(spaces > 1 ? ", a space for each" : "")
            """
        }
        for round in 1...rounds {
            note("devices, round \(round)")
            for (devices, _) in Self.loads {
                for (processes, spaces) in Self.spreads {
                    let space = "devices-\(devices.count)-\(processes)-\(spaces)-\(round)"
                    measured[name(devices, processes, spaces), default: []].append(
                        try devices.round(
                            on: Array(servers.prefix(processes)),
                            spaces: (1...spaces).map { "\(space)-\($0)" }, time: time))
                }
            }
        }
        return Self.loads.flatMap { devices, aims in
            Self.spreads.flatMap { processes, spaces in
                let name = name(devices, processes, spaces)
                return (measured[name] ?? []).figures(name, aims: aims)
            }
        }
    }

    // MARK: Groups

    private static let groupSizes = [1, 16, 64, 256]

    private struct Group {
        let server: Devices.Round
        /// Rows a second.
        let plain: Double
        let bytes: (table: Double, log: Double)
    }

    /// One device with one request at a time, beside a loop of plain INSERT statements.
    func groups() throws -> [Measurement] {
        try cluster.makePlainTable()
        var measured = [[Group]](repeating: [], count: Self.groupSizes.count)
        for round in 1...rounds {
            note("groups, round \(round)")
            for (place, size) in Self.groupSizes.enumerated() {
                measured[place].append(try group(size, space: "groups-\(size)-\(round)"))
            }
        }
        return zip(Self.groupSizes, measured).flatMap { size, rounds in
            let ratios = rounds.map { $0.server.perSecond / $0.plain }
            let name = "devices: 1, intents a request: \(size)"
            var plain = rounds.map(\.plain).measurement(
                "plain INSERT by pgbench, \(name)", unit: "intents/s", each: "rounds")
            plain.note += "; a row for each intent, a transaction for each request"
            let figures =
                rounds.map(\.server).figures(
                    "PostgreSQL, \(name)", aims: size == 1 ? Aims(p50: 2) : nil,
                    note: "\(ratios.median.text) of plain INSERT") + [plain]
            guard size == 1 || size == 64 else { return figures }
            return figures
                + [("table", rounds.map(\.bytes.table)), ("log", rounds.map(\.bytes.log))].map {
                    $1.measurement(
                        "a decision in the \($0), intents a group: \(size)", unit: "bytes",
                        each: "rounds")
                }
        }
    }

    private func group(_ size: Int, space: String) throws -> Group {
        let (server, before) = (servers[0], try bytes(servers[0]))
        let round = try Devices(count: 1, intentsOfRequest: size).round(
            on: [server], spaces: [space], time: time)
        let after = try bytes(server)
        let decisions = Double(round.accepted)
        return Group(
            server: round,
            plain: try cluster.insertions(
                rows: size, space: space, count: round.latencies.count),
            bytes: (
                Double(after.table - before.table) / decisions,
                Double(after.log - before.log) / decisions
            ))
    }

    /// The sizes of the table with its indexes, and of all logs of a server.
    private func bytes(_ server: LoadedServer) throws -> (table: Int, log: Int) {
        let table = try cluster.value("SELECT pg_total_relation_size('foldback.decision')")
        let files = FileManager.default.enumerator(at: server.data, includingPropertiesForKeys: nil)
        var log = 0
        for case let file as URL in files ?? .init() where file.lastPathComponent == "data.mdb" {
            log += try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        }
        guard let table = Int(table) else { throw LoadError("the table has no size: \(table)") }
        return (table, log)
    }

    // MARK: From device to device

    /// An intent of one device, until another device has its effect: from the same process, and from
    /// another process, which knows it from a notification.
    ///
    /// A process notifies at most every 20 ms. So intents are sent both rarely and one after the other.
    func propagation() throws -> [Measurement] {
        let loads = [
            ("of the same process", servers[0], UInt32(2), 500),
            ("of another process", servers[1], 40, 200),
            ("of another process, without pauses", servers[1], 2, 200),
        ]
        return try loads.flatMap { words, reader, pause, count in
            let latencies = try (1...rounds).map { round in
                note("from device to device, \(words), round \(round)")
                return try Propagation.round(
                    on: servers[0], readingFrom: reader,
                    space: "propagation-\(pause)-\(count)-\(round)", count: count, pause: pause
                ).latencies
            }
            return latencies.percentiles(
                "PostgreSQL, sent until in another device's poll \(words)",
                aims: Aims(p50: 10, p99: 40))
        }
    }

    // MARK: New servers

    /// A server with an empty folder copies a space before it answers.
    func copy(_ decisions: Int) throws -> [Measurement] {
        let filling = try Devices.fillers.fill("copy", with: decisions, on: servers[0])
        let all = filling.accepted
        let times = try (1...fewRounds).map { round in
            note("copying, round \(round)")
            let start = ContinuousClock.now
            let server = try LoadedServer(
                .deciding, in: directory.appending(path: "new-\(round)"), over: cluster.connection,
                keyOf: servers[0])
            try server.accept(intent(of: Devices.fillers.count + round, to: "copy", server))
            return start.duration(to: .now) / .seconds(1)
        }
        let name = "PostgreSQL, a new process, \(all.grouped) decisions"
        return [
            times.measurement("\(name), until its first answer", unit: "s", each: "processes")
                .judged(by: .atMost(20 * Double(all) / 1e6)),
            times.map { Double(all) / $0 }.measurement(
                "\(name), copied", unit: "decisions/s", each: "processes"),
            Measurement(
                name: "PostgreSQL, making these decisions", value: filling.perSecond,
                unit: "intents/s", n: filling.latencies.count, note: filling.use.words),
        ]
    }

    /// Returns a request with the first intent of a device.
    private func intent(of device: Int, to space: String, _ server: LoadedServer) -> [UInt8] {
        server.submission(Devices.body(device: device, 1), to: space, answerBytes: 0)
    }

    // MARK: Promotion

    /// The primary is killed, and the standby promoted.
    func promotion() throws -> [Measurement] {
        let (server, space) = (servers[0], "promotion")
        try server.accept(intent(of: 0, to: space, server))
        var (answers, promotions): ([Double], [Double]) = ([], [])
        for round in 1...fewRounds {
            note("promotion, round \(round)")
            if round > 1 { try cluster.command("rejoin") }
            try cluster.command("kill", "primary")
            let start = ContinuousClock.now
            promotions.append(
                try cluster.promote {
                    try server.accept(intent(of: round, to: space, server))
                    answers.append(start.duration(to: .now) / .seconds(1))
                })
        }
        let name = "PostgreSQL, primary killed"
        return [
            answers.measurement(
                "\(name), from the promotion until the first answer", unit: "s", each: "kills"
            ).judged(by: .atMost(promotions.median)),
            promotions.measurement("\(name), the promotion alone", unit: "s", each: "kills"),
        ]
    }
}
