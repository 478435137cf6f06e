import Foldback
import Synchronization

/// A part of a model's rows: a read that is repeated with the updates.
///
/// One reader of updates calls it, on no particular actor (U28).
protocol RowPart<P>: AnyObject, Sendable {
    associatedtype P: StoredProjection

    /// Called before each read, outside of it.
    func prepare()

    /// Returns whether the rows at `sequence` may differ from those that were read last.
    func isStale(at sequence: LogSequence) -> Bool

    /// Reads, and returns how to show the result; nil if it is equal to the last result.
    func read(_ reader: borrowing RowReader<P>) -> ShowPart?

    /// Notes that the rows could not be read, and returns how to show it; nil if that is known.
    func fail(_ failure: ReadFailure) -> ShowPart?
}

/// The parts of a model's rows.
final class RowParts<P: StoredProjection>: Sendable {
    private let list = PartList<any RowPart<P>>()

    /// Adds a part until the returned value is released.
    func add(_ part: some RowPart<P>) -> Listening { list.add(part) }

    /// Prepares the present parts for a read.
    ///
    /// - Parameter index: the index of the projection among the store's stored projections.
    func prepared(at index: Int) -> any PreparedParts {
        let parts = list.parts
        for part in parts.values { part.prepare() }
        return PreparedRowParts(parts: parts, index: index)
    }
}

/// The parts of a model's rows in one read, whatever the type of the rows.
protocol PreparedParts: Sendable {
    /// Returns whether a part may differ at `sequence` from what was read last.
    func areStale(at sequence: LogSequence) -> Bool

    /// Reads the stale parts, and returns how to show those that differ. May block on the disk.
    ///
    /// - Parameter stored: the confirmed rows of the same sequence.
    func read(_ published: PublishedState, _ stored: StoredRows) -> [PartID: ShowPart]

    /// Notes that the parts that are stale at `sequence` could not be read, and returns how to show
    /// it.
    func fail(_ failure: ReadFailure, at sequence: LogSequence) -> [PartID: ShowPart]
}

private struct PreparedRowParts<P: StoredProjection>: PreparedParts {
    let parts: [PartID: any RowPart<P>]
    let index: Int

    func areStale(at sequence: LogSequence) -> Bool {
        parts.values.contains { $0.isStale(at: sequence) }
    }

    func read(_ published: PublishedState, _ stored: StoredRows) -> [PartID: ShowPart] {
        let reader = RowReader<P>(published, published.rows[index], stored)
        var shows: [PartID: ShowPart] = [:]
        for (id, part) in parts where part.isStale(at: reader.sequence) {
            if let show = part.read(reader) { shows[id] = show }
        }
        return shows
    }

    func fail(_ failure: ReadFailure, at sequence: LogSequence) -> [PartID: ShowPart] {
        parts.filter { $0.value.isStale(at: sequence) }.compactMapValues { $0.fail(failure) }
    }
}

/// A read of a model's rows that is repeated with the updates, for a selection or for a list.
final class ReadPart<P: StoredProjection, Value: Sendable>: RowPart {
    typealias Read = @Sendable (borrowing RowReader<P>) throws -> Value
    typealias Result = RemoteData<Value, ReadFailure>

    /// The results on their way to the main actor: loading until the first read.
    let relay: Relay<Result>
    private let closure: Read
    /// Nil if only the reader uses the results.
    private let shows: (@MainActor @Sendable (Result) -> Void)?
    /// The sequence of the last read; nil before the first read, and after a failure.
    private let readAt = Mutex<LogSequence?>(nil)

    /// A read whose results are shown.
    init(
        _ closure: @escaping Read, shows: @escaping @MainActor @Sendable (Result) -> Void
    ) where Value: Equatable {
        relay = Relay(.loading)
        (self.closure, self.shows) = (closure, shows)
    }

    /// A read for the reader alone. Each value counts as new.
    init(_ closure: @escaping Read) {
        relay = Relay(.loading) { old, new in
            guard let old = old.failure, let new = new.failure else { return false }
            return old == new
        }
        (self.closure, shows) = (closure, nil)
    }

    func prepare() {}

    func isStale(at sequence: LogSequence) -> Bool { readAt.withLock { $0 != sequence } }

    func read(_ reader: borrowing RowReader<P>) -> ShowPart? {
        do {
            let value = try closure(reader)
            let sequence = reader.sequence
            readAt.withLock { $0 = sequence }
            return send(.success(value))
        } catch {
            return fail(ReadFailure(error))
        }
    }

    func fail(_ failure: ReadFailure) -> ShowPart? {
        // The last value of a closed store stays (U29).
        if failure == .closed, relay.sent.value.isSuccess { return nil }
        readAt.withLock { $0 = nil }
        return send(.failure(failure))
    }

    private func send(_ result: Result) -> ShowPart? {
        guard relay.send(result), let shows else { return nil }
        return { [relay, version = relay.sent] in
            if let result = relay.show(version) { shows(result) }
        }
    }
}
