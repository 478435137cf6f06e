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

    /// Reads all stale parts at one sequence. If there are none, it does not open a reader.
    ///
    /// May block on the disk. The state is never older than the last commit.
    func read(in rows: ProjectedRows<P>, _ publication: Publication) -> PartsRead {
        let parts = list.parts
        for part in parts.values { part.prepare() }
        let published = publication.current
        guard parts.values.contains(where: { $0.isStale(at: published.sequence) }) else {
            return PartsRead(published: published)
        }
        do {
            return try rows.read { reader in
                var read = PartsRead(published: reader.published)
                for (id, part) in parts where part.isStale(at: reader.sequence) {
                    if let show = part.read(reader) { read.parts[id] = show }
                }
                return read
            }
        } catch {
            let failure = ReadFailure(error)
            let stale = parts.filter { $0.value.isStale(at: published.sequence) }
            return PartsRead(
                published: published, parts: stale.compactMapValues { $0.fail(failure) })
        }
    }

    /// Ends the parts, because the store is closed, and returns how to show that. The reader of
    /// updates calls it between two reads.
    func close() -> [ShowPart] {
        list.parts.values.compactMap { $0.fail(.closed) }
    }
}

/// The values of a part on their way from the reader to the main actor.
///
/// The reader compares them, so that the main actor does not: equal values have the same version
/// (U25, U28).
final class ValueRelay<Value: Equatable & Sendable>: Sendable {
    /// A value with an identity.
    final class Version: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let versions: Mutex<(shown: Version, sent: Version, count: Int)>

    init(_ first: Value) {
        let version = Version(first)
        versions = Mutex((version, version, 0))
    }

    /// The version that was sent last.
    var sent: Version { versions.withLock { $0.sent } }

    /// How many times the version that was sent last has changed.
    var sendCount: Int { versions.withLock { $0.count } }

    /// Returns the version of a value to send, which may be a version that was shown or sent before.
    func send(_ value: Value) -> Version {
        let (shown, sent, _) = versions.withLock { $0 }
        // The value can change and change back before the main actor shows any of it.
        let known = [sent, shown].first { $0.value == value }
        let version = known ?? Version(value)
        versions.withLock { versions in
            if versions.sent !== version { versions.count += 1 }
            versions.sent = version
        }
        return version
    }

    /// Notes that a version is shown, and returns whether another version was shown before.
    @MainActor func show(_ version: Version) -> Bool {
        versions.withLock { versions in
            defer { versions.shown = version }
            return versions.shown !== version
        }
    }
}
