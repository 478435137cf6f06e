import Foldback

/// Three plots of a log, made in one pass over its entries.
///
/// ```swift
/// let plots = try LogPlots(try LogReader(at: directory))
/// print(plots.pending.svg(.file))
/// ```
///
/// It needs no types of the app. It folds the log from the first entry, because checkpoints do not
/// tell how the log came to its state. The plots of a damaged log end before the damage, and say so.
package struct LogPlots: Sendable {
    /// Intents that are pending, and accepted, over the times of the entries. Over their sequences
    /// if all entries have one time.
    package private(set) var pending: Plot
    /// How long intents took from their recording to their settlement, as a histogram.
    package private(set) var settling: Plot
    /// The bytes of all records up to each entry, with the log's checkpoints.
    package private(set) var bytes: Plot

    /// Reads the whole log. Blocks.
    ///
    /// - Throws: `.closed`, `.storage`. Damage and newer formats end the plots without an error.
    /// - Complexity: O(n) in entries. Memory is O(1) in entries, and O(n) in the overlay.
    package init(_ reader: LogReader) throws(LogError) {
        var tally = try LogTally(reader)
        var end: String?
        do throws(LogError) {
            while try tally.readNext() {}
            for checkpoint in try reader.log.storedCheckpoints() {
                tally.bytes.checkpoints.append(checkpoint.sequence)
            }
        } catch {
            end = try Self.words(for: error, after: tally.sequence)
        }
        pending = tally.pending.plot
        settling = tally.settling.plot(stillPending: tally.overlayCount)
        bytes = tally.bytes.plot
        guard let end else { return }
        pending.facts.append(end)
        settling.facts.append(end)
        bytes.facts.append(end)
    }

    /// Returns why the plots end early, without the path and texts of the log.
    ///
    /// - Throws: errors that are not about the log's content.
    private static func words(
        for error: LogError, after sequence: LogSequence
    ) throws(LogError) -> String {
        switch error {
        case .damaged: return "The log is damaged. The plot ends after entry \(sequence)."
        case .newerFormat:
            return
                "This version cannot read the log further. The plot ends after entry \(sequence)."
        default: throw error
        }
    }
}

/// The counts of a log while its entries are read.
private struct LogTally {
    var pending = PendingTally()
    var settling = SettlingTally()
    var bytes = BytesTally()
    private let log: any LogStorage
    private let codec = RawCodec()
    private var fold: LogFold
    private var records: RecordReader
    /// When each intent in the overlay was recorded.
    private var starts: [IntentNumber: Timestamp] = [:]

    init(_ reader: LogReader) throws(LogError) {
        log = reader.log
        fold = try .beginning(of: log, codec: codec)
        records = RecordReader(log, after: fold.state.sequence)
        for intent in fold.state.overlay.values {
            starts[intent.recorded.number] = intent.recorded.time
        }
    }

    var sequence: LogSequence { fold.state.sequence }
    var overlayCount: Int { fold.state.overlay.count }

    mutating func readNext() throws(LogError) -> Bool {
        guard let (sequence, recordBytes) = try records.next() else { return false }
        let (record, effects) = try fold.applyRecord(recordBytes, at: sequence, log, codec)
        let time = record.stamp.time
        if case .intent(let intent) = record.entry { starts[intent.number] = time }
        for number in effects.reopened {
            starts[number] = fold.state.overlay[number]?.recorded.time
        }
        for settlement in effects.settlements {
            guard let start = starts.removeValue(forKey: settlement.number) else { continue }
            settling.add(
                (time.millisecondsSince1970).subtractingReportingOverflow(
                    start.millisecondsSince1970
                ).partialValue)
        }
        let accepted = fold.state.acceptedCount
        pending.add(
            sequence, time, pending: overlayCount - accepted, accepted: accepted)
        bytes.add(sequence, recordBytes.count)
        return true
    }
}
