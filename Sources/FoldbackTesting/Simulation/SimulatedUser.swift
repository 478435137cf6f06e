import Foldback

/// Somebody who uses a replica, and remembers what it said.
struct SimulatedUser<P: Projection>: Sendable {
    private let name: String
    private let store: Store<P>
    private let fleet: Fleet<P>.Shared

    init(_ name: String, _ store: Store<P>, _ fleet: Fleet<P>.Shared) {
        self.name = name
        self.store = store
        self.fleet = fleet
    }

    /// - Throws: what a log throws that cannot go on.
    func record(
        _ event: P.Event, _ force: Bool, _ confirmOnly: Bool, _ once: String?,
        _ ruling: FleetScript<P.Event>.Ruling
    ) async throws {
        do throws(FoldbackError) {
            let receipt = try await store.record(
                event, force: force, confirmOnly: confirmOnly, once: once)
            try note(receipt, event, ruling)
        } catch {
            try bear(error, "record \(StateText.inline(event))")
        }
    }

    func retry(_ place: Int) async throws {
        guard let number = Self.pick(place, of: store.rejections) else { return }
        do throws(FoldbackError) {
            let event = try store.intent(number).event
            let receipt = try await store.retry(number, force: true)
            if let event { try note(receipt, event, .accept) }
        } catch {
            try bear(error, "retry \(number)")
        }
    }

    func withdraw(_ place: Int) async {
        guard let number = Self.pick(place, of: store.snapshot.pending),
            let id = store.pendingEvent(number)?.id
        else { return }
        let hasLeft = fleet.book.hasLeft(id)
        do throws(FoldbackError) {
            try await store.withdraw(number)
            fleet.notes.trace(name, "withdraws \(id)")
            guard hasLeft else { return }
            fleet.notes.broke(
                "withdrawn after leaving",
                "Intent \(id) is withdrawn, though it has left: the authority may have it (F7).")
        } catch {
            fleet.notes.trace(name, "cannot withdraw \(id): \(error)")
        }
    }

    func dismiss(_ place: Int) async {
        guard let number = Self.pick(place, of: store.rejections) else { return }
        // Answered otherwise meanwhile, it is rejected no more.
        _ = try? await store.dismiss(number)
        fleet.notes.trace(name, "dismisses the rejection of \(number)")
    }

    private func note(
        _ receipt: Receipt, _ event: P.Event, _ ruling: FleetScript<P.Event>.Ruling
    ) throws(FoldbackError) {
        fleet.notes.trace(
            name,
            "\(receipt.isJoined ? "joins" : "records") \(receipt.id) \(StateText.inline(event))")
        guard !receipt.isJoined else { return }
        do { try fleet.book.note(receipt.id, event, ruling) } catch {
            throw .notEncodable(reason: "\(error)")
        }
    }

    /// Refusals are part of life.
    private func bear(_ error: FoldbackError, _ what: String) throws {
        switch error {
        case .inapplicable, .notRejected: fleet.notes.trace(name, "cannot \(what): \(error)")
        default: throw error
        }
    }

    private static func pick(_ place: Int, of numbers: [IntentNumber]) -> IntentNumber? {
        numbers.isEmpty ? nil : numbers[place % numbers.count]
    }
}
