import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation

/// `foldback-probe damage STORE LOG SCRATCH KIND FIRST LAST STEP`: damages copies of LOG's data
/// file, each at one place.
///
/// For each place, the probe opens the damaged copy, reads everything in it, and writes to it. It
/// does so twice: with a new copy, to which opening writes, and with a copy that was opened before.
/// In the second copy the first command writes, before anything is read. If it fails, everything is
/// read all the same. Then the probe prints the outcome in one line: `PLACE error …`,
/// `PLACE right …`, `PLACE WRONG …`, or `PLACE misplaced …` if a row is missing that only `verify`
/// notices. "Late" before the error means that opening succeeded and the first command failed. The
/// probe prints PLACE before it opens the log, so that the place is known if the process ends there.
///
/// STORE says where documents are kept: `memory` or `rows`. KIND is `flip` (one bit of the byte at
/// PLACE) or `zero` (all of page PLACE).
enum DamageProbe<P: ShownDocuments> {
    static func run(_ arguments: ArraySlice<String>) async throws {
        let arguments = Array(arguments)
        guard arguments.count == 6, let first = Int(arguments[3]), let last = Int(arguments[4]),
            let step = Int(arguments[5])
        else { throw WrongUse() }
        let whole = try Data(
            contentsOf: URL(filePath: arguments[0]).appending(path: "data.mdb"))
        let scratch = URL(filePath: arguments[1], directoryHint: .isDirectory)
        let expected = try await Self.expected(whole, in: scratch)
        let known = try log(whole, in: scratch.appending(path: "known"))
        await (try open(known)).close()
        let wholeKnown = try Data(contentsOf: known.appending(path: "data.mdb"))
        for place in stride(from: first, through: last, by: step) {
            say("\(place) ")
            let copy = try log(damaged(whole, arguments[2], place), in: scratch)
            try overwrite(known, with: damaged(wholeKnown, arguments[2], place))
            var outcome = try await outcome(at: copy, writesFirst: false, expected)
            if !outcome.hasPrefix("WRONG") {
                let second = try await self.outcome(at: known, writesFirst: true, expected)
                if !second.hasPrefix("right") { outcome = second }
            }
            say(outcome + "\n")
        }
    }

    private static func damaged(_ whole: Data, _ kind: String, _ place: Int) -> Data {
        var bytes = whole
        if kind == "flip" {
            bytes[place] ^= 1 << (place % 7)
        } else {
            let page = place * 4_096..<min((place + 1) * 4_096, bytes.count)
            bytes.replaceSubrange(page, with: repeatElement(0, count: page.count))
        }
        return bytes
    }

    private static func log(_ bytes: Data, in scratch: URL) throws -> URL {
        let log = scratch.appending(path: "log", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: log)
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
        try bytes.write(to: log.appending(path: "data.mdb"))
        return log
    }

    /// Writes other bytes into a log that was opened once, so that the log does not look copied.
    private static func overwrite(_ log: URL, with bytes: Data) throws {
        // The header is from before the first command, when there was no marker file.
        try? FileManager.default.removeItem(at: log.appending(path: "mark"))
        let file = try FileHandle(forWritingTo: log.appending(path: "data.mdb"))
        try file.write(contentsOf: bytes)
        try file.truncate(atOffset: UInt64(bytes.count))
        try file.close()
    }

    private static func open(_ log: URL) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: log, P.self, confirmedBy: .downlink, durability: .relaxed)
    }

    private static func expected(_ whole: Data, in scratch: URL) async throws -> [String] {
        let store = try await open(try log(whole, in: scratch))
        let lines = try await Everything(store, upTo: store.status.sequence).lines
        await store.close()
        return lines
    }

    private static func outcome(
        at log: URL, writesFirst: Bool, _ expected: [String]
    ) async throws -> String {
        var findings: [Verification.Finding]?
        do throws(LogError) {
            let reader = try LogReader(at: log)
            findings = try reader.verify(
                Documents.self, also: [AdditionalProjection(StoredDocuments.self)]
            ).findings
            reader.close()
        } catch {
            guard error.isDamage else { return "WRONG verify: \(error)" }
        }
        var isLate = false
        do throws(LogError) {
            let wrong = try await wrong(
                in: log, writesFirst: writesFirst, expected, isLate: &isLate)
            if let wrong { return "\(isMisplacedRow(findings) ? "misplaced" : "WRONG") \(wrong)" }
            return "right \(findings.map { "\($0.count)" } ?? "unreadable")"
        } catch {
            guard error.isDamage else { return "WRONG error: \(error)" }
            if findings?.isEmpty == true {
                return "WRONG verify found nothing: \(error)"
            }
            return "error \(isLate ? "late " : "")\(error)"
        }
    }

    /// Returns whether only rows are damaged. The key of a first or last row can name another table
    /// or projection. Then no read notices the missing row, but `verify` reports it.
    private static func isMisplacedRow(_ findings: [Verification.Finding]?) -> Bool {
        guard let findings, !findings.isEmpty else { return false }
        return findings.allSatisfy { if case .rows = $0.place { true } else { false } }
    }

    /// Returns the first difference from the expected lines, before and after writes; nil if there
    /// is none.
    ///
    /// - Parameters:
    ///   - writesFirst: whether writes come before the first read.
    ///   - isLate: becomes true if the first command fails, and the file is as before.
    private static func wrong(
        in log: URL, writesFirst: Bool, _ expected: [String], isLate: inout Bool
    ) async throws(LogError) -> String? {
        var store = try await open(log)
        let sequence = store.status.sequence
        do throws(LogError) {
            if !writesFirst, let wrong = try await difference(store, sequence, expected) {
                return wrong
            }
            do throws(LogError) {
                if let wrong = try await write(to: store, in: log, isLate: &isLate) { return wrong }
            } catch {
                if isLate, error.isDamage,
                    let wrong = try await difference(store, sequence, expected)
                {
                    return wrong
                }
                throw error
            }
            if let wrong = try await difference(store, sequence, expected) { return wrong }
        } catch {
            await store.close()
            throw error
        }
        await store.close()
        store = try await open(log)
        do throws(LogError) {
            let wrong = try await difference(store, sequence, expected)
            await store.close()
            return wrong
        } catch {
            await store.close()
            throw error
        }
    }

    /// Records and rejects intents, so that the view stays as it is. There are many of them, so that
    /// LMDB uses free pages.
    ///
    /// - Returns: what is wrong; nil if nothing is.
    private static func write(
        to store: Store<P>, in log: URL, isLate: inout Bool
    ) async throws(LogError) -> String? {
        let before = bytes(of: log)
        for number in 0...40 {
            let receipt: Receipt
            do throws(LogError) {
                receipt = try await taken {
                    () throws(CommandError) in
                    try await store.record(
                        .set("new \(number)", .string(String(repeating: "x", count: 700))))
                }
            } catch {
                guard number == 0 else { throw error }
                guard bytes(of: log) == before else { return "written in spite of \(error)" }
                isLate = true
                throw error
            }
            try await taken { () throws(CommandError) in
                _ = try await store.reject(receipt.number, message: "no")
            }
        }
        try await store.checkpoint()
        return nil
    }

    /// Carries out a command that only the log can refuse.
    private static func taken<R>(
        _ command: () async throws(CommandError) -> R
    ) async throws(LogError) -> R {
        do throws(CommandError) { return try await command() } catch {
            guard case .log(let error) = error else { preconditionFailure("\(error)") }
            throw error
        }
    }

    private static func bytes(of log: URL) -> Data? {
        try? Data(contentsOf: log.appending(path: "data.mdb"))
    }

    private static func difference(
        _ store: Store<P>, _ sequence: LogSequence, _ expected: [String]
    ) async throws(LogError) -> String? {
        let lines = try await Everything(store, upTo: sequence).lines
        guard lines != expected else { return nil }
        let (found, wanted) =
            zip(lines, expected).first { $0 != $1 }
            ?? ("\(lines.count) lines", "\(expected.count) lines")
        return "\(found.prefix(200)), not \(wanted.prefix(200))"
    }
}

extension LogError {
    fileprivate var isDamage: Bool {
        switch self {
        case .damaged, .newerFormat, .notALog: true
        // A write found damage before anything could be on disk.
        case .storage(let failure): failure.reason == .damagedFile
        default: false
        }
    }
}
