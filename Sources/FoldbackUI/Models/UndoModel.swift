import Foldback
import Observation

/// The actions that a person can undo and redo on a screen or in a document, with their names (F21).
///
/// ```swift
/// let undo = model.undoModel(of: "card \(id)")
/// try await undo.perform(.renamed(id, title: title), named: "Rename")
/// if let name = undo.undoName { button("Undo \(name)") { try await undo.undo() } }
/// ```
///
/// The last 100 actions are kept, until the model is released. A new action empties what can be redone.
/// An action that the server rejects, or that is withdrawn, is not offered any more. An action of
/// several intents is offered while one of them is left.
///
/// What is undone is in the log like everything else: ``/Foldback/Store/undo(_:force:)`` says how.
/// Do not use it for what the app does by itself.
@MainActor @Observable public final class UndoModel<Event: Sendable> {
    /// What the actions belong to, for example a document; nil for no scope of its own.
    public let scope: String?

    /// By ascending id. The undone actions come last.
    private var actions: [UndoAction] = []
    @ObservationIgnored private var lastID = 0
    /// The intents of the actions that may still be rejected or withdrawn.
    @ObservationIgnored private var open: Set<IntentNumber> = []
    @ObservationIgnored private let link: StoreLink<Event>
    /// Hears which actions come and go.
    @ObservationIgnored var listener: @MainActor (UndoChange) -> Void = { _ in }

    private static var countMax: Int { 100 }

    init(_ link: StoreLink<Event>, _ scope: String?) { (self.link, self.scope) = (link, scope) }

    /// Whether there is an action to undo.
    public var canUndo: Bool { undoName != nil }
    /// Whether there is an action to redo.
    public var canRedo: Bool { redoName != nil }
    /// The name of the action that ``undo()`` takes back; nil if there is none.
    public var undoName: String? { nextUndo?.name }
    /// The name of the action that ``redo()`` brings back; nil if there is none.
    public var redoName: String? { nextRedo?.name }

    private var nextUndo: UndoAction? { actions.last { !$0.isUndone } }
    private var nextRedo: UndoAction? { actions.first(where: \.isUndone) }

    // MARK: New actions

    /// Records and shows an event as an action that can be undone.
    ///
    /// If the intent joins another intent by its once key, no action is added.
    ///
    /// - Parameters:
    ///   - event: the change that the person intends.
    ///   - name: what a person calls the action, for example "Rename".
    ///   - initiator: what began it, as in
    ///     ``StoreModel/perform(_:from:confirmOnly:once:replacing:held:)``.
    ///   - confirmOnly: whether the view shows it only once it is confirmed (F13).
    ///   - once: its once key; nil for none (F14).
    ///   - key: its replacing key; nil for none (F16). An action that is replaced is gone, so that
    ///     undoing leads to the state before it.
    ///   - held: whether it is a draft (F22).
    /// - Throws: as that method does.
    @discardableResult public func perform(
        _ event: Event, named name: String, from initiator: Initiator = .user(),
        confirmOnly: Bool = false, once: String? = nil, replacing key: String? = nil,
        held: Bool = false
    ) async throws(CommandError) -> Receipt {
        let receipt = try await link.perform(
            event, from: initiator, confirmOnly: confirmOnly, once: once, replacing: key,
            held: held)
        add([receipt], name)
        await link.followUndo()
        return receipt
    }

    /// Records and shows several events as one action: all of them, or none (F20).
    ///
    /// - Throws: as ``StoreModel/perform(contentsOf:from:once:)``.
    @discardableResult public func perform(
        contentsOf events: [Event], named name: String, from initiator: Initiator = .user(),
        once: String? = nil
    ) async throws(CommandError) -> [Receipt] {
        let receipts = try await link.perform(contentsOf: events, from: initiator, once: once)
        add(receipts, name)
        await link.followUndo()
        return receipts
    }

    /// Adds an action that the app recorded itself.
    ///
    /// - Parameters:
    ///   - receipts: of one intent, or of all intents that
    ///     ``/Foldback/Store/record(contentsOf:force:confirmOnly:once:held:info:)`` recorded together.
    ///   - name: what a person calls the action, for example "Rename".
    public func note(_ receipts: [Receipt], named name: String) {
        add(receipts, name)
        link.adoptSoon()
    }

    private func add(_ receipts: [Receipt], _ name: String) {
        let numbers = Set(receipts.filter { !$0.isJoined }.map(\.number))
        guard let first = numbers.min() else { return }
        drop { $0.isUndone }
        lastID += 1
        actions.append(UndoAction(id: lastID, name: name, number: first, doing: numbers))
        open.formUnion(numbers)
        listener(.added(id: lastID, name: name))
        let last = lastID
        drop { $0.id <= last - Self.countMax }
    }

    // MARK: Undo and redo

    /// Takes back the newest action that is not undone. On return, the model does not show it (U24).
    ///
    /// Several calls at the same time take back one action each.
    ///
    /// - Returns: the name of the action; nil if there was nothing to undo.
    /// - Throws: as ``/Foldback/Store/undo(_:force:)``. The action is not offered any more, unless the
    ///   store takes no commands now (`.log`).
    @discardableResult public func undo() async throws(CommandError) -> String? {
        guard let action = nextUndo else { return nil }
        return try await reverse(action, isUndo: true)
    }

    /// Brings back the action that was undone last. On return, the model shows it (U24).
    ///
    /// - Returns: the name of the action; nil if there was nothing to redo.
    /// - Throws: as ``/Foldback/Store/redo(_:force:)``, and as ``undo()`` says.
    @discardableResult public func redo() async throws(CommandError) -> String? {
        guard let action = nextRedo else { return nil }
        return try await reverse(action, isUndo: false)
    }

    /// Undoes or redoes for a caller that cannot wait.
    func begin(isUndo: Bool, _ failed: @escaping @MainActor (CommandError) -> Void) {
        Task {
            do throws(CommandError) {
                _ = isUndo ? try await undo() : try await redo()
            } catch { failed(error) }
        }
    }

    private func reverse(
        _ action: UndoAction, isUndo: Bool
    ) async throws(CommandError) -> String? {
        // Now, so that another call takes the next action.
        change(action.id) { $0.begin(isUndo: isUndo) }
        let reversed: Reversed
        do throws(CommandError) {
            reversed =
                isUndo ? try await link.undo(action.number) : try await link.redo(action.number)
        } catch {
            if error.isTemporary {
                change(action.id) { $0.fail(isUndo: isUndo) }
            } else {
                drop { $0.id == action.id }
            }
            throw error
        }
        change(action.id) { $0.end(reversed, isUndo: isUndo) }
        if reversed.ignored != nil { drop { $0.id == action.id } }
        open.formUnion(reversed.recorded.map(\.number))
        await link.followUndo()
        return reversed.ignored == nil ? action.name : nil
    }

    private func change(_ id: Int, _ body: (inout UndoAction) -> Void) {
        guard let place = actions.firstIndex(where: { $0.id == id }) else { return }
        body(&actions[place])
    }

    private func drop(where isDropped: (UndoAction) -> Bool) {
        for action in actions where isDropped(action) { listener(.dropped(id: action.id)) }
        if actions.contains(where: isDropped) { actions.removeAll(where: isDropped) }
    }

    // MARK: What becomes of the intents

    /// Drops what is rejected, and returns the intents whose state only the log has.
    func adopt(_ shown: PublishedState) -> [IntentNumber] {
        let missing = open.filter { shown.unsettledIntent($0) == nil }
        end(missing.filter { shown.rejections[$0] != nil })
        return missing.filter { shown.rejections[$0] == nil }
    }

    /// Takes the states of intents that have left the overlay.
    func note(_ states: [IntentNumber: IntentState]) {
        let settled = states.filter(\.value.isSettled)
        open.subtract(settled.keys)
        end(settled.filter { $0.value != .confirmed }.keys)
    }

    private func end(_ numbers: some Collection<IntentNumber>) {
        guard !numbers.isEmpty else { return }
        open.subtract(numbers)
        for place in actions.indices { actions[place].lose(numbers) }
        drop(where: \.isOver)
    }
}

/// A change of an ``UndoModel``.
enum UndoChange: Equatable {
    case added(id: Int, name: String)
    case dropped(id: Int)
}

/// An action of a person, with what has become of it.
private struct UndoAction {
    let id: Int
    let name: String
    /// An intent of the action, as it was first recorded.
    let number: IntentNumber
    /// The intents that give the action its effect.
    var doing: Set<IntentNumber>
    /// The intents that take its effect away; nil if none had to be recorded for that.
    private var undoing: Set<IntentNumber>?
    private(set) var isUndone = false
    /// How many commands about it are on their way.
    private var commandCount = 0

    init(id: Int, name: String, number: IntentNumber, doing: Set<IntentNumber>) {
        (self.id, self.name, self.number, self.doing) = (id, name, number, doing)
    }

    /// Whether there is nothing to undo or redo.
    var isOver: Bool { commandCount == 0 && (isUndone ? undoing : doing)?.isEmpty ?? false }

    mutating func begin(isUndo: Bool) {
        isUndone = isUndo
        commandCount += 1
    }

    mutating func fail(isUndo: Bool) {
        isUndone = !isUndo
        commandCount -= 1
    }

    mutating func end(_ reversed: Reversed, isUndo: Bool) {
        commandCount -= 1
        let recorded = Set(reversed.recorded.map(\.number))
        if isUndo {
            undoing = reversed.withdrawn.isEmpty ? recorded : nil
        } else if reversed.withdrawn.isEmpty {
            doing = recorded
        } else {
            doing.formUnion(recorded)
        }
    }

    /// The intents have no effect any more.
    mutating func lose(_ numbers: some Collection<IntentNumber>) {
        doing.subtract(numbers)
        undoing?.subtract(numbers)
    }
}

extension CommandError {
    /// Whether the same command may succeed later.
    fileprivate var isTemporary: Bool {
        switch self {
        case .log(.unknownIntent): false
        case .log: true
        default: false
        }
    }
}

extension StoreModel {
    /// Returns what a person can undo and redo in a scope.
    ///
    /// It is always the same model while somebody keeps it: the screens of a document share it.
    /// Other scopes, and other models of the store, have their own actions.
    ///
    /// The store's projection must be ``/Foldback/Undoable`` or ``/Foldback/UndoableRows``, else only
    /// what was never sent can be undone.
    ///
    /// - Parameter scope: for example the id of a document or the name of a screen.
    public final func undoModel(of scope: String? = nil) -> UndoModel<P.Event> {
        link.undoModel(of: scope)
    }
}
