import Foldback
import FoldbackSync
import Foundation
import Processes
import Testing

@testable import FoldbackServer
@testable import foldback_probe

/// A space in a folder, and the verdicts that the devices of `foldback-probe decide` received from it.
struct SpaceLedger {
    private struct Sent: Hashable {
        let device: Int
        let number: Int
    }

    /// The directory of the space, and how the processes open it.
    let directory: URL
    var form = "alone"
    var textBytes = 20
    /// The verdicts as lines.
    private var answers: [Sent: String] = [:]
    /// The failures that devices received, and why the space could not be opened.
    private(set) var failures: [String] = []
    /// The lineage that each check must find; nil to take over the next.
    var lineage: Lineage?
    /// Verdicts that differ from the first verdict on the same intent.
    private(set) var movedCount = 0
    /// The lowest number that no device has an answer for.
    private(set) var nextNumber = 1

    init(_ directory: URL) { self.directory = directory }

    var count: Int { answers.count }

    /// Returns the command of a process whose devices send `count` intents each.
    func command(sending count: Int) -> [String] {
        let place = form == "alone" ? directory : directory.deletingLastPathComponent()
        return [
            executable("foldback-probe"), "decide", place.path, "\(nextNumber)", "\(count)",
            "\(textBytes)", form,
        ]
    }

    /// Takes over the lines that a process wrote. A last line without an end does not count.
    mutating func note(_ output: String) {
        for line in output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let device = Int(words[0]), let number = Int(words[1]) else {
                if line != "done" { failures.append(String(line)) }
                continue
            }
            let text = String(words[2])
            let first = answers[Sent(device: device, number: number), default: text]
            answers[Sent(device: device, number: number)] = first
            if first != text { movedCount += 1 }
            nextNumber = max(nextNumber, number + 1)
        }
    }

    /// The most answered intents that a check sends again. It compares all of them with the log.
    private static let askedMax = TestEffort.value(quick: 50, full: 500)

    /// Opens the space, sends answered intents again, and compares. Then compares all answers with the log.
    ///
    /// Counts answered intents: lost 0, decided twice 0, moved 0.
    mutating func check(adopting isAdopting: Bool = false, _ note: Comment) async throws {
        let space = try await Space.open(
            at: directory, rules: TallyRules(), adopting: isAdopting)
        #expect(lineage == nil || space.lineage == lineage, note)
        lineage = space.lineage
        let head = space.head
        #expect(movedCount == 0, note)
        #expect(try await differing(in: space) == [], note)
        #expect(space.head == head, "an answered intent was decided again; \(note)")
        let log = try read(space, note)
        #expect(space.store.view.state.byDevice == log.tallies, note)
        let lost = answers.filter { log.lines[.of(device: $0.device, $0.number)] != $1 }
        #expect(lost == [:], note)
        #expect(space.fault == nil && space.failure == nil, note)
        #expect(try await space.store.verify().findings == [], note)
        await space.close()
    }

    /// Sends the answered intents again with the same bytes, and returns those with another verdict now.
    private func differing(in space: Space<TallyRules>) async throws -> [String] {
        var differing: [String] = []
        let asked = answers.keys.shuffled().prefix(Self.askedMax)
        for (device, sent) in Dictionary(grouping: asked, by: \.device) {
            let authority = space.authority(for: .of(device))
            let numbers = sent.map(\.number).sorted()
            for start in stride(from: 0, to: numbers.count, by: 256) {
                let piece = numbers[start..<min(start + 256, numbers.count)]
                let verdicts = try await authority.submit(
                    piece.map { Submission(number: $0, of: device, textBytes) },
                    from: SyncPoint(lineage: nil, through: 0))
                for number in piece {
                    let found = verdicts[.of(device: device, number)]?.line ?? "nothing"
                    let first = answers[Sent(device: device, number: number)] ?? "nothing"
                    if found != first {
                        differing.append("\(device).\(number): \(first), now \(found)")
                    }
                }
            }
        }
        return differing
    }

    /// Returns the verdicts in the log as lines, and what the accepted intents add up to.
    private func read(
        _ space: Space<TallyRules>, _ note: Comment
    ) throws -> (lines: [IntentID: String], tallies: [Int: Tallies.Tally]) {
        var lines: [IntentID: String] = [:]
        var tallies: [Int: Tallies.Tally] = [:]
        var next: LogSequence = 1
        while case let entries = try space.store.entries(from: next, countMax: 512),
            let last = entries.last
        {
            for entry in entries {
                guard case .confirmed(let events, _) = entry.content else { continue }
                for event in events {
                    guard let id = event.origin, case .decided(let decision) = event.event.event,
                        let device = Int(id.replica.description.dropFirst("device-".count))
                    else { continue }
                    #expect(lines[id] == nil, "\(id) was decided twice; \(note)")
                    lines[id] = decision.verdict.line
                    let amount = TallyRules.amount(ofIntent: Int(id.number.value))
                    #expect(decision.effect?.event.amount == amount, "\(id); \(note)")
                    guard let amount else { continue }
                    tallies[device, default: Tallies.Tally()].count += 1
                    tallies[device, default: Tallies.Tally()].sum += amount
                }
            }
            next = LogSequence(last.sequence.value + 1)
        }
        return (lines, tallies)
    }
}
