import Foldback

/// A user of one replica, who remembers what it answered.
struct SimulatedUser<P: Projection>: Sendable {
    private let name: String
    private let store: Store<P>
    private let fleet: Fleet<P>.Shared

    init(_ name: String, _ store: Store<P>, _ fleet: Fleet<P>.Shared) {
        self.name = name
        self.store = store
        self.fleet = fleet
    }

    /// - Throws: the error of a log that cannot continue.
    func record(
        _ event: P.Event, _ force: Bool, _ confirmOnly: Bool, _ once: String?,
        _ ruling: FleetScript<P.Event>.Ruling
    ) async throws {
        do throws(CommandError) {
            let receipt = try await store.record(
                event, force: force, confirmOnly: confirmOnly, once: once)
            try note(receipt, event, ruling)
        } catch {
            try accept(error, "record \(StateText.inline(event))")
        }
    }

    /// - Parameter place: among the intents that the command is for; it wraps around.
    /// - Throws: the error of a log that cannot continue.
    func perform(_ command: IntentCommand, at place: Int) async throws {
        if command == .undo || command == .redo { return try await reverse(command, place) }
        let numbers =
            command.target == .rejected ? store.rejections : store.snapshot.pending
        guard !numbers.isEmpty else { return }
        let number = numbers[place % numbers.count]
        noteEndOfRejection(number, command)
        switch command {
        case .withdraw: await withdraw(number)
        case .abandon: await abandon(number)
        case .dismiss: await dismiss(number)
        case .retry: try await retry(number)
        case .undo, .redo, .release, .withdrawAll, .retryAll:
            preconditionFailure("fleets have no user who does \(command) at a place")
        }
    }

    /// Notes that a user has seen a rejection, so that the intent is over.
    private func noteEndOfRejection(_ number: IntentNumber, _ command: IntentCommand) {
        guard command.target == .rejected, let id = try? store.intent(number).id else { return }
        fleet.book.givesUp(id)
    }

    private func retry(_ number: IntentNumber) async throws {
        do throws(CommandError) {
            let event = try CommandError.converting { () throws(LogError) -> P.Event? in
                try store.intent(number).event
            }
            let receipt = try await store.retry(number, force: true)
            if let event { try note(receipt, event, .accept) }
        } catch {
            try accept(error, "retry \(number)")
        }
    }

    /// Records another event in place of a rejected intent.
    ///
    /// - Parameter place: among the rejected intents; it wraps around.
    /// - Throws: the error of a log that cannot continue.
    func edit(_ place: Int, to event: P.Event) async throws {
        let numbers = store.rejections
        guard !numbers.isEmpty else { return }
        let number = numbers[place % numbers.count]
        noteEndOfRejection(number, .retry)
        do throws(CommandError) {
            let receipt = try await store.retry(number, with: event, force: true)
            try note(receipt, event, .accept)
        } catch {
            try accept(error, "edit \(number)")
        }
    }

    /// Undoes or redoes one of the newest intents.
    ///
    /// - Throws: the error of a log that cannot continue.
    private func reverse(_ command: IntentCommand, _ place: Int) async throws {
        let count = store.status.nextIntent.value - 1
        guard count > 0 else { return }
        let number = IntentNumber(count - UInt64(place) % count)
        let left = store.overlay.filter { fleet.book.hasLeft($0.id) }.map(\.number)
        do throws(CommandError) {
            let reversed =
                command == .undo
                ? try await store.undo(number, force: true)
                : try await store.redo(number, force: true)
            for number in reversed.withdrawn {
                let id = try recordedID(number)
                fleet.book.givesUp(id)
                fleet.notes.trace(name, "\(command) withdraws \(id)")
                guard left.contains(number) else { continue }
                fleet.notes.broke(
                    "taken back after leaving",
                    "Intent \(id) is taken back after it left the device (F21).")
            }
            for receipt in reversed.recorded where !receipt.isJoined {
                let intent = try CommandError.converting { () throws(LogError) in
                    try store.intent(receipt.number)
                }
                // What was taken back was never sent, so its successor stands alone.
                if let undone = intent.undoes, try isKept(undone) {
                    fleet.book.note(receipt.id, undoing: try recordedID(undone))
                }
                if let event = intent.event { try note(receipt, event, .accept) }
            }
        } catch {
            switch error {
            case .notUndoable, .reworded: fleet.notes.trace(name, "cannot \(command): \(error)")
            default: try accept(error, "\(command) \(number)")
            }
        }
    }

    private func isKept(_ number: IntentNumber) throws(CommandError) -> Bool {
        try CommandError.converting { () throws(LogError) in
            try store.intent(number).state != .withdrawn
        }
    }

    private func recordedID(_ number: IntentNumber) throws(CommandError) -> IntentID {
        try CommandError.converting { () throws(LogError) in try store.intent(number).id }
    }

    private func withdraw(_ number: IntentNumber) async {
        guard let id = store.pendingIntent(number)?.recorded.id else { return }
        let hasLeft = fleet.book.hasLeft(id)
        do throws(CommandError) {
            try await store.withdraw(number)
            fleet.book.givesUp(id)
            fleet.notes.trace(name, "withdraws \(id)")
            guard hasLeft else { return }
            fleet.notes.broke(
                "withdrawn after leaving",
                "Intent \(id) is withdrawn after it left the device: the authority may have it (F7)."
            )
        } catch {
            fleet.notes.trace(name, "cannot withdraw \(id): \(error)")
        }
    }

    /// Abandons an intent in a downlink log. In a log that is confirmed by acknowledgements, a lost
    /// answer to the intent would never come again, and the states could not be compared.
    private func abandon(_ number: IntentNumber) async {
        guard fleet.kind == .downlink, let id = store.pendingIntent(number)?.recorded.id else {
            return
        }
        fleet.book.abandons(id)
        // An answer may come before the command: then this throws.
        _ = try? await store.abandon(number)
        fleet.notes.trace(name, "abandons \(id)")
    }

    private func dismiss(_ number: IntentNumber) async {
        // A later answer may have changed the state of the intent: then this throws.
        _ = try? await store.dismiss(number)
        fleet.notes.trace(name, "dismisses the rejection of \(number)")
    }

    private func note(
        _ receipt: Receipt, _ event: P.Event, _ ruling: FleetScript<P.Event>.Ruling
    ) throws(CommandError) {
        fleet.notes.trace(
            name,
            "\(receipt.isJoined ? "joins" : "records") \(receipt.id) \(StateText.inline(event))")
        guard !receipt.isJoined else { return }
        do { try fleet.book.note(receipt.id, event, ruling, by: name) } catch {
            throw .notEncodable(reason: "\(error)")
        }
    }

    /// Notes a refusal, and throws every other error.
    private func accept(_ error: CommandError, _ action: String) throws {
        switch error {
        case .inapplicable, .notRejected: fleet.notes.trace(name, "cannot \(action): \(error)")
        default: throw error
        }
    }
}

extension IntentCommand {
    /// The command in a fleet's script.
    var userText: String {
        switch self {
        case .withdraw: "withdraws"
        case .abandon: "abandons"
        case .retry: "retries what was rejected"
        case .dismiss: "dismisses a rejection"
        case .release: "releases a draft"
        case .undo: "undoes an action"
        case .redo: "redoes an action"
        case .withdrawAll: "withdraws an action"
        case .retryAll: "retries an action"
        }
    }
}
