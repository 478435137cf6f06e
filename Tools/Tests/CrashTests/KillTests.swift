import Foldback
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what a log holds after its process was killed. The tests kill real
/// processes.
///
/// Properties:
/// - Every answered intent is in the log with its event.
/// - Numbers and sequences have no gap, and none is given twice.
/// - The log opens, also if the process died while it created the log.
/// - Documents in memory and documents as rows equal a fold of the log.
@Suite(.serialized) struct KillTests {
    /// The answers that arrived before the process died: the log must have them.
    private struct Heard {
        var intents: [Int64: Int64] = [:]
        var sequence: Int64 = 0
        var next: Int64 = 0
    }

    private func record(_ value: Int64) -> String {
        #"{"do":"record","event":{"op":"set","key":"k\#(value % 5)","value":\#(value)}}"#
    }

    /// More than the calls of one name in a run, with those of a sanitizer.
    private static let callCountMax = 1_000
    private static let roundCount = TestEffort.value(quick: 10, full: 40)

    /// Opens the log as an app that starts again, and compares it with the answers.
    private func check(
        _ log: URL, _ heard: Heard, over store: DocumentStore, _ note: String
    ) async throws {
        func check<P: ShownDocuments>(_ documents: P.Type) async throws {
            let store = try await Store.open(
                at: log, documents, existingOr: .acknowledgement, durability: .durable)
            try await self.check(store, heard, note)
            await store.close()
        }
        try await check(store.type)
    }

    private func check<P: ShownDocuments>(
        _ store: Store<P>, _ heard: Heard, _ note: String
    ) async throws {
        let status = store.status
        #expect(status.sequence.value >= UInt64(heard.sequence), "\(note)")
        for (intent, value) in heard.intents {
            let event = try store.intent(IntentNumber(UInt64(intent))).event
            let wanted = DocumentEvent.set("k\(value % 5)", .integer(value))
            #expect(event == wanted, "\(note), intent \(intent)")
        }
        var seen: UInt64 = 0
        var numbers: [UInt64] = []
        // The fold of all intents in order of their entries. It is the view, because
        // acknowledgements arrive here in number order.
        var documents = Documents()
        while case let piece = try store.entries(from: LogSequence(seen + 1), countMax: 500),
            !piece.isEmpty
        {
            for entry in piece {
                seen += 1
                #expect(entry.sequence.value == seen, "\(note)")
                if case .intent(let intent) = entry.content {
                    numbers.append(intent.number.value)
                    let id = IntentID(replica: entry.replica, number: intent.number)
                    try documents.apply(
                        try #require(intent.event.event), EventContext(.intent(id)))
                }
            }
        }
        #expect(numbers == Array(1..<status.nextIntent.value), "\(note)")
        #expect(try P.state(of: store).documents == documents.json, "\(note)")
    }

    @Test func `SIGKILL at a random moment loses no answered intent`() async throws {
        let directory = DiskDirectory()
        var random = SystemRandomNumberGenerator()
        var heard = Heard()
        for round in 0..<Self.roundCount {
            // Rows stay current in some rounds, fall out of date in others, and catch up in others.
            let (store, checked) = (DocumentStore(round), DocumentStore(round / 2))
            let shell = try ShellProcess(
                directory.log,
                ["--replica", "me", "--confirmed-by", "acknowledgement"], over: store)
            let delay = UInt64.random(in: 0...40_000_000, using: &random)
            let values = (0..<400).map { _ in
                heard.next += 1
                return heard.next
            }
            for value in values { shell.send(record(value)) }
            let process = shell.process.id
            let killer = Task.detached {
                try? await Task.sleep(nanoseconds: delay)
                kill(process, SIGKILL)
            }
            for value in values {
                guard let answer = shell.answer() else { break }
                let intent = try #require(answer["intent"]?.integerValue, "\(answer)")
                #expect(heard.intents[intent] == nil, "number \(intent) was given twice")
                heard.intents[intent] = value
                heard.sequence = max(heard.sequence, answer["sequence"]?.integerValue ?? 0)
            }
            shell.kill()
            await killer.value
            _ = shell.finish()
            try await check(
                directory.log, heard, over: checked,
                "round \(round) over \(store), killed after \(delay) ns")
        }
        print("kill: \(Self.roundCount) rounds, \(heard.intents.count) answered intents, all there")
    }

    @Test func `SIGKILL during the first open leaves a log that opens`() async throws {
        var made = 0
        for round in 0..<Self.roundCount {
            let directory = DiskDirectory()
            let store = DocumentStore(round)
            let shell = try ShellProcess(directory.log, ["--replica", "me"], over: store)
            usleep(UInt32(round) * UInt32(20_000 / Self.roundCount))
            made += FileManager.default.fileExists(atPath: directory.log.path) ? 1 : 0
            shell.kill()
            _ = shell.finish()
            try await check(
                directory.log, Heard(), over: store,
                "first open over \(store), killed after \(round * 20_000 / Self.roundCount) us")
        }
        print(
            "kill: \(Self.roundCount) first opens, \(made) of them killed with the directory there")
    }

    @Test(
        .needsStrace,
        arguments: TracedCall.opening("log")
            + TracedCall.each("mkdir", "pwrite64", "writev", "fdatasync", "fsync", "rename"))
    func `SIGKILL at any system call loses no answered intent`(
        call: TracedCall
    ) async throws {
        var kills = 0
        // The two kinds of documents take turns. The first one is random in each run.
        let first = Int.random(in: 0...1)
        var whole: Set<DocumentStore> = []
        for nth in call.places(upTo: Self.callCountMax, others: 3) {
            let store = DocumentStore(first + nth)
            guard !whole.contains(store) else { continue }
            let directory = DiskDirectory()
            let shell = try ShellProcess(
                directory.log, ["--replica", "me", "--confirmed-by", "acknowledgement"],
                over: store, under: call.killing(nth, in: directory))
            var heard = Heard()
            for value in 1...6 as ClosedRange<Int64> {
                shell.send(record(value))
                guard let answer = shell.answer(),
                    let intent = answer["intent"]?.integerValue
                else { break }
                heard.intents[intent] = value
                heard.sequence = answer["sequence"]?.integerValue ?? 0
            }
            let wasWhole = heard.intents.count == 6
            shell.send(#"{"do":"acknowledge","intent":1}"#)
            if wasWhole, shell.answer() != nil { heard.sequence = 7 }
            let ended = shell.finish()
            try await check(directory.log, heard, over: store, "\(call) \(nth) over \(store)")
            // A run with fewer calls of that name ends without a kill.
            if ended.status == 0 { whole.insert(store) } else { kills += 1 }
            if whole.count == DocumentStore.allCases.count { break }
        }
        print("kill: at \(kills) calls of \(call)")
        #expect(kills < Self.callCountMax && (kills > 0 || !call.opensLogs))
    }
}
