import Foundation

/// The operations that each side runs, with their times.
struct Workload: Sendable {
    /// The length of each part of a round that does one change at a time.
    let time: Duration

    static let together = 256
    /// The names of the operations that are measured one after the other.
    static let oneAtATime = [writing, acknowledging, rollingBack]
    private static let writing = "write, one at a time"
    private static let acknowledging = "acknowledge, one at a time"
    private static let rollingBack = "roll back, one at a time"
    private static let pagesOfRound = 500

    /// - Parameter round: The number of the round, from 0 up. Each round uses other messages.
    func run<S: Contender>(_ side: S, round: Int, _ times: inout Times) async throws {
        try await oneAtATime(side, round, &times)
        try await inFlight(side, round, &times)
        try await batched(side, round, &times)
        try await read(side, round, &times)
    }

    private static let clock = ContinuousClock()

    private func oneAtATime<S: Contender>(_ side: S, _ round: Int, _ times: inout Times)
        async throws
    {
        var handles: [S.Handle] = []
        var writing: [Duration] = []
        let end = Self.clock.now + time
        while Self.clock.now < end, handles.count < 10_000 {
            let id = id(handles.count, round)
            writing.append(
                try await Self.clock.measure { handles.append(try await side.star(id)) })
        }
        times.add(Self.writing, writing, count: writing.count)
        var acknowledging: [Duration] = []
        var rollingBack: [Duration] = []
        for (index, handle) in handles.enumerated() {
            if index.isMultiple(of: 2) {
                acknowledging.append(
                    try await Self.clock.measure { try await side.acknowledge(handle) })
            } else {
                rollingBack.append(
                    try await Self.clock.measure { try await side.rollBack(handle) })
            }
            let expected: Int64 = index.isMultiple(of: 2) ? 1 : 0
            let found = try side.stars(of: id(index, round))
            precondition(found == expected, "a message has \(found ?? -1) stars")
        }
        times.add(Self.acknowledging, acknowledging, count: acknowledging.count)
        times.add(Self.rollingBack, rollingBack, count: rollingBack.count)
    }

    /// Writes with ``together`` tasks, each with one write after the other.
    private func inFlight<S: Contender>(_ side: S, _ round: Int, _ times: inout Times) async throws
    {
        let writesOfTask = 8
        let start = Self.clock.now
        let (durations, handles) = try await withThrowingTaskGroup(
            of: ([Duration], [S.Handle]).self
        ) { group in
            for task in 0..<Self.together {
                group.addTask {
                    var durations: [Duration] = []
                    var handles: [S.Handle] = []
                    for write in 0..<writesOfTask {
                        let id = id(10_000 + task * writesOfTask + write, round)
                        durations.append(
                            try await Self.clock.measure {
                                handles.append(try await side.star(id))
                            })
                    }
                    return (durations, handles)
                }
            }
            return try await group.reduce(into: ([Duration](), [S.Handle]())) { sum, part in
                sum.0 += part.0
                sum.1 += part.1
            }
        }
        times.add(
            "write, 256 in flight", durations, count: durations.count,
            total: Self.clock.now - start)
        try await side.acknowledgeTogether(handles)
    }

    private func batched<S: Contender>(_ side: S, _ round: Int, _ times: inout Times) async throws {
        var writing: [Duration] = []
        var acknowledging: [Duration] = []
        for batch in 0..<10 {
            let ids = (0..<Self.together).map { id(12_500 + batch * Self.together + $0, round) }
            var handles: [S.Handle] = []
            writing.append(
                try await Self.clock.measure { handles = try await side.starTogether(ids) })
            acknowledging.append(
                try await Self.clock.measure { try await side.acknowledgeTogether(handles) })
        }
        let count = writing.count * Self.together
        times.add("write, 256 batched by hand, a batch", writing, count: count)
        times.add("acknowledge, 256 together, a batch", acknowledging, count: count)
    }

    private func read<S: Contender>(_ side: S, _ round: Int, _ times: inout Times) async throws {
        var reading: [Duration] = []
        for number in 0..<Self.pagesOfRound {
            let sent = Message.sent(of: id(number, round))
            var page: [Message] = []
            reading.append(try Self.clock.measure { page = try side.page(before: sent) })
            precondition(
                page.allSatisfy { !$0.isRead && $0.sent < sent }, "a page has another message")
        }
        times.add("page of 50 by index", reading, count: reading.count)
    }

    /// Returns the id of a message that no other part of the run uses.
    private func id(_ number: Int, _ round: Int) -> Int64 {
        Int64(round * 16_000 + number) * 7_919 % Message.count
    }
}
