#if canImport(SwiftUI)
    import Foldback
    import SwiftUI

    extension UndoModel {
        /// Registers each later action with an undo manager, so that the system's menu, keys and gestures
        /// undo and redo it.
        ///
        /// ```swift
        /// @Environment(\.undoManager) private var undoManager
        ///
        /// List { … }.onAppear {
        ///     if let undoManager { undo.register(with: undoManager) { problem = $0 } }
        /// }
        /// ```
        ///
        /// An action that is not offered any more leaves the undo manager too. A later call replaces
        /// the manager for later actions.
        ///
        /// - Parameter failed: gets the errors of ``undo()`` and ``redo()``.
        public func register(
            with manager: UndoManager, failed: @escaping @MainActor (CommandError) -> Void
        ) {
            // An undo manager does not keep its targets.
            var targets: [Int: RegisteredAction<Event>] = [:]
            listener = { [weak self, weak manager] change in
                guard let self, let manager else { return }
                switch change {
                case .added(let id, let name):
                    let target = RegisteredAction(self, manager, name, failed)
                    targets[id] = target
                    target.register(isUndo: true)
                case .dropped(let id):
                    if let target = targets.removeValue(forKey: id) {
                        manager.removeAllActions(withTarget: target)
                    }
                }
            }
        }
    }

    /// An action as an undo manager has it.
    @MainActor private final class RegisteredAction<Event: Sendable> {
        private weak var model: UndoModel<Event>?
        private weak var manager: UndoManager?
        private let name: String
        private let failed: @MainActor (CommandError) -> Void

        init(
            _ model: UndoModel<Event>, _ manager: UndoManager, _ name: String,
            _ failed: @escaping @MainActor (CommandError) -> Void
        ) {
            (self.model, self.manager, self.name, self.failed) = (model, manager, name, failed)
        }

        func register(isUndo: Bool) {
            manager?.registerUndo(withTarget: self) { target in
                MainActor.assumeIsolated { target.reverse(isUndo: isUndo) }
            }
            manager?.setActionName(name)
        }

        private func reverse(isUndo: Bool) {
            // While the manager undoes, this registers what redoes it, and the other way round.
            register(isUndo: !isUndo)
            model?.begin(isUndo: isUndo, failed)
        }
    }
#endif
