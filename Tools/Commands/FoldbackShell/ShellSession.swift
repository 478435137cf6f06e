import Foldback
import FoldbackHistory
import FoldbackReplay
import Foundation
import Synchronization

/// A scripted session on a log of documents: each line is a JSON object and gets one JSON object as
/// its answer.
///
/// The answer to a command that writes comes after its commit (L2). A bad line gets an error
/// answer, and the session continues. Answers do not depend, byte for byte, on whether documents
/// are in memory or rows.
public final class ShellSession<P: ShownDocuments>: Sendable {
    private let open: @Sendable () async throws(LogError) -> Store<P>
    private let current: Mutex<Store<P>>

    /// The store that answers. It is another one after `compact`.
    public var store: Store<P> { current.withLock { $0 } }

    /// Begins a session on a log.
    ///
    /// - Parameter open: opens the log, now and after each `compact`. The session does not close the
    ///   last store.
    public init(
        opening open: @escaping @Sendable () async throws(LogError) -> Store<P>
    ) async throws(LogError) {
        self.open = open
        current = Mutex(try await open())
    }

    /// Begins a session on an open log, which `compact` cannot close.
    public init(over store: Store<P>) {
        open = { () throws(LogError) in throw .closed(path: store.status.path) }
        current = Mutex(store)
    }

    /// Carries out the command in one line, and returns its answer.
    ///
    /// The answer has `"ok": true`, or `"ok": false` with the error.
    ///
    /// - Parameter line: one JSON object, without the newline.
    public func answer(to line: [UInt8]) async -> JSON {
        do {
            let json: JSON
            do { json = try JSON(parsing: line) } catch {
                throw ShellError(.badRequest, "the line is not JSON: \(error)")
            }
            guard let object = json.objectValue else {
                let found = "\(json)".shortened(to: ShellCommand.quotedMax)
                throw ShellError(.badRequest, "a command must be a JSON object, not \(found)")
            }
            return try await answer(to: ShellCommand(object)).answered
        } catch let error as ShellError {
            return error.json
        } catch let error as CommandError {
            return ShellError(error).json
        } catch let error as LogError {
            return ShellError(error).json
        } catch {
            return ShellError(.storage, "\(error)").json
        }
    }

    private func answer(to command: ShellCommand) async throws -> JSON.Object {
        switch try command.string("do") {
        case "record": try await record(command)
        case "acknowledge": try await acknowledge(command)
        case "reject": try await reject(command)
        case "together": try await together(command)
        case "release": ["sequence": .of(try await store.release(command.intent()))]
        case "undo": reversed(try await store.undo(command.intent(), force: command.flag("force")))
        case "redo": reversed(try await store.redo(command.intent(), force: command.flag("force")))
        case "withdraw": ["sequence": .of(try await store.withdraw(command.intent()))]
        case "abandon": ["sequence": .of(try await store.abandon(command.intent()))]
        case "dismiss": ["sequence": .of(try await store.dismiss(command.intent()))]
        case "retry": try await retry(command)
        case "confirm": try await confirm(command)
        case "flush": try await flush()
        case "backup": try await backup(command)
        case "compact": try await compact(command)
        case "view": try await view(command)
        case "get": try get(command)
        case "intent": try intent(command)
        case "rejections": ["intents": .of(store.rejections)]
        case "entries": try entries(command)
        case "status": status()
        case let other:
            let name = other.shortened(to: ShellCommand.quotedMax)
            throw ShellError(
                .badRequest,
                "command \"\(name)\" does not exist; foldback shell --help lists the commands")
        }
    }

    // MARK: Commands that write

    private func record(_ command: ShellCommand) async throws -> JSON.Object {
        let receipt = try await store.record(
            command.event("event"), force: command.flag("force"),
            confirmOnly: command.flag("confirmOnly"), once: command.optionalString("once"),
            replacing: command.optionalString("replacing"), held: command.flag("held"))
        var answer: JSON.Object = ["intent": .of(receipt.number)]
        if receipt.isJoined {
            answer["joined"] = true
        } else {
            answer["sequence"] = .of(receipt.sequence)
            if command.has("replacing") {
                answer["replaced"] = try store.intent(receipt.number).replaces.map { .of($0) }
            }
        }
        return answer
    }

    private func together(_ command: ShellCommand) async throws -> JSON.Object {
        let receipts = try await store.record(
            contentsOf: command.events("events"), force: command.flag("force"),
            confirmOnly: command.flag("confirmOnly"), once: command.optionalString("once"),
            held: command.flag("held"))
        var answer: JSON.Object = ["intents": .of(receipts.map(\.number))]
        answer["sequence"] = receipts.first.map { .of($0.sequence) }
        return answer
    }

    /// The answer to undo or redo. One intent that was recorded is `intent`, several are `intents`.
    private func reversed(_ reversed: Reversed) -> JSON.Object {
        if let state = reversed.ignored {
            return ["ignored": true, "state": .string(state.rawValue)]
        }
        var answer = JSON.Object()
        if !reversed.withdrawn.isEmpty { answer["withdrawn"] = true }
        let numbers = reversed.recorded.map(\.number)
        if numbers.count == 1 { answer["intent"] = .of(numbers[0]) }
        if numbers.count > 1 { answer["intents"] = .of(numbers) }
        return answer
    }

    private func retry(_ command: ShellCommand) async throws -> JSON.Object {
        let edited = command.has("event") ? try command.event("event") : nil
        let receipt = try await store.retry(
            command.intent(), with: edited, force: command.flag("force"))
        var answer: JSON.Object = [
            "intent": .of(receipt.number), "sequence": .of(receipt.sequence),
        ]
        if receipt.isJoined { answer["joined"] = true }
        return answer
    }

    private func acknowledge(_ command: ShellCommand) async throws -> JSON.Object {
        let replacement = command.has("event") ? try command.event("event") : nil
        let outcome = try await store.acknowledge(
            command.intent(), position: command.optionalPosition("position"),
            replacement: replacement)
        return answer(outcome)
    }

    private func reject(_ command: ShellCommand) async throws -> JSON.Object {
        let outcome = try await store.reject(
            command.intent(), code: command.optionalString("code"),
            message: command.string("message"))
        return answer(outcome)
    }

    private func answer(_ outcome: AnswerResult) -> JSON.Object {
        switch outcome {
        case .recorded(let sequence): ["sequence": .of(sequence)]
        case .ignored(let state): ["ignored": true, "state": .string(state.rawValue)]
        }
    }

    private func confirm(_ command: ShellCommand) async throws -> JSON.Object {
        let outcome = try await store.confirm(
            command.confirmedEvents("events"), through: command.optionalThrough("through"))
        switch outcome {
        case .confirmed(let sequence, let through):
            return ["sequence": .of(sequence), "through": .of(through)]
        case .ignored(let through): return ["ignored": true, "through": .of(through)]
        }
    }

    private func flush() async throws -> JSON.Object {
        try await store.flush()
        return ["flushed": true]
    }

    private func backup(_ command: ShellCommand) async throws -> JSON.Object {
        let directory = URL(filePath: try command.string("to"), directoryHint: .isDirectory)
        return ["sequence": .of(try await store.backup(to: directory))]
    }

    /// Closes the log, compacts it, and opens it again, also if compacting it throws.
    private func compact(_ command: ShellCommand) async throws -> JSON.Object {
        let count: LogSequence = try command.number("keepingEntries")
        guard count >= 1 else {
            throw ShellError(.badRequest, "\"keepingEntries\" must be a whole number from 1 up")
        }
        let archive = try command.optionalString("archive").map {
            URL(filePath: $0, directoryHint: .isDirectory)
        }
        let store = store
        await store.close()
        let directory = URL(filePath: store.status.path, directoryHint: .isDirectory)
        let done: Result<Compaction, LogError>
        do throws(LogError) {
            done = .success(
                try await Store.compact(
                    at: directory, Documents.self,
                    also: [AdditionalProjection(StoredDocuments.self)],
                    keeping: .entries(Int(clamping: count.value)), archive: archive))
        } catch {
            done = .failure(error)
        }
        let opened = try await open()
        current.withLock { $0 = opened }
        return try done.get().json
    }

    // MARK: Commands that read

    private func view(_ command: ShellCommand) async throws -> JSON.Object {
        let state =
            if let sequence: LogSequence = try command.optionalNumber("at") {
                ShownState(try await store.snapshot(of: Documents.self, at: sequence))
            } else {
                try P.state(of: store)
            }
        return [
            "sequence": .of(state.sequence), "through": .of(state.through),
            "documents": state.documents, "confirmed": state.confirmed,
            "pending": .of(state.pending), "accepted": .of(state.accepted),
            "conflicted": .of(state.conflicted),
        ]
    }

    private func get(_ command: ShellCommand) throws -> JSON.Object {
        let key = ExactString(try command.string("key"))
        let (value, overlay) = try P.document(key, in: store)
        var answer: JSON.Object = ["overlay": .of(overlay)]
        if let value { answer["value"] = value } else { answer["absent"] = true }
        return answer
    }

    private func intent(_ command: ShellCommand) throws -> JSON.Object {
        let status = try store.intent(command.intent())
        var answer: JSON.Object = ["state": .string(status.state.rawValue)]
        if let rejection = status.rejection {
            answer["code"] = rejection.code.map { .string($0) }
            answer["message"] = .string(rejection.message)
            answer["dismissed"] = .bool(status.isDismissed)
        }
        answer["retries"] = status.retries.map { .of($0) }
        return answer
    }

    private func entries(_ command: ShellCommand) throws -> JSON.Object {
        let limit: LogSequence = try command.number("limit")
        var start: LogSequence = try command.number("from")
        var left = Int(clamping: limit.value)
        var found: [JSON] = []
        while left > 0 {
            let piece = try store.entries(from: start, countMax: left)
            guard let last = piece.last else { break }
            found += piece.map(\.json)
            left -= piece.count
            start = LogSequence(last.sequence.value + 1)
        }
        return ["entries": .array(found)]
    }

    private func status() -> JSON.Object {
        var answer = store.status.json
        answer["faults"] = .integer(Int64(P.faults(of: store).count))
        return answer
    }
}

extension JSON.Object {
    fileprivate var answered: JSON {
        var object = self
        object["ok"] = true
        return .object(object)
    }
}

extension Compaction {
    /// The compaction as the shell and the command line print it.
    public var json: JSON.Object {
        [
            "base": .of(base), "removed": .integer(Int64(removed)),
            "held": .array(held.map { .string($0) }),
        ]
    }
}
