import Foldback
import Observation
import Synchronization

/// A read of a model's rows that is repeated when the rows may have changed; see
/// ``RowsModel/select(_:)``.
///
/// It keeps its model, so the value is up to date as long as the selection exists. Nobody else keeps
/// it: keep it in the screen's object or in `@State`. A selection that is made in a view's `body` is
/// loading for ever.
@MainActor @Observable public final class RowSelection<Value: Equatable & Sendable> {
    /// The result of the last read: loading until the first read. A failed read is a failure, and is
    /// repeated with the next update. Observers are notified only if the result differs.
    public var value: RemoteData<Value, ReadFailure> {
        access(keyPath: \.value)
        return shown
    }

    @ObservationIgnored private var shown: RemoteData<Value, ReadFailure> = .loading
    /// The model, and the membership in its parts.
    @ObservationIgnored private var kept: [AnyObject] = []

    init<P>(
        of model: RowsModel<P>, _ parts: RowParts<P>,
        _ read: @escaping @Sendable (borrowing RowReader<P>) throws -> Value
    ) {
        kept = [model, parts.add(SelectionPart(self, read))]
    }

    /// Shows a result that differs from the result shown.
    fileprivate func show(_ next: RemoteData<Value, ReadFailure>) {
        withMutation(keyPath: \.value) { shown = next }
    }
}

/// The reader's side of a ``RowSelection``.
private final class SelectionPart<P: StoredProjection, Value: Equatable & Sendable>: RowPart {
    private weak let selection: RowSelection<Value>?
    private let closure: @Sendable (borrowing RowReader<P>) throws -> Value
    private let relay = ValueRelay<RemoteData<Value, ReadFailure>>(.loading)
    /// The sequence of the last read; nil before the first read, and after a failure.
    private let readAt = Mutex<LogSequence?>(nil)

    init(
        _ selection: RowSelection<Value>,
        _ closure: @escaping @Sendable (borrowing RowReader<P>) throws -> Value
    ) {
        self.selection = selection
        self.closure = closure
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

    private func send(_ value: RemoteData<Value, ReadFailure>) -> ShowPart? {
        let last = relay.sent
        let version = relay.send(value)
        if version === last { return nil }
        return { [relay, weak selection] in
            if relay.show(version) { selection?.show(version.value) }
        }
    }
}
