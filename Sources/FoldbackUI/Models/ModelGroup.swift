import Foldback

/// The models of one store. They adopt together, so that they show one revision (U25).
///
/// Each ``StoreLink`` keeps its group, and the group keeps neither links nor store. It follows the
/// store until the last link is released (U29).
@MainActor final class ModelGroup<Event: Sendable> {
    private struct WeakLink {
        weak var link: StoreLink<Event>?
    }

    let reader: UpdateReader<Event>
    /// The state that the models have.
    private var shown: PublishedState
    private weak var store: (any UpdatedStore<Event>)?
    /// In the order in which the models were made.
    private var known: [WeakLink] = []
    private var following: Task<Void, Never>?
    private var isAdoptionAsked = false

    private init(_ store: any UpdatedStore<Event>, from first: PublishedState) {
        self.store = store
        shown = first
        reader = UpdateReader(store, from: first)
    }

    isolated deinit { following?.cancel() }

    // MARK: Members

    /// Returns the state that a new model of a store has: that of the store's other models, if there
    /// are any.
    static func state(of store: any UpdatedStore<Event>) -> PublishedState {
        group(of: store)?.shown ?? store.core.published
    }

    /// Returns the group of a store.
    ///
    /// - Parameter first: the state that the first model has.
    static func group(
        of store: any UpdatedStore<Event>, from first: PublishedState
    ) -> ModelGroup {
        if let group = group(of: store) { return group }
        let made = ModelGroup(store, from: first)
        groups = groups.filter { $0.value.group != nil }
        groups[ObjectIdentifier(store)] = WeakGroup(group: made)
        return made
    }

    private static func group(of store: any UpdatedStore<Event>) -> ModelGroup? {
        let group = groups[ObjectIdentifier(store)]?.group as? ModelGroup
        // A store can have the address of a store that was released.
        return group?.store === store ? group : nil
    }

    /// Adds a model's link, which is a member of the reader.
    func add(_ link: StoreLink<Event>) {
        known.removeAll { $0.link == nil }
        known.append(WeakLink(link: link))
    }

    private var links: [StoreLink<Event>] { known.compactMap(\.link) }

    // MARK: Updates

    /// Follows the store, unless that has begun.
    func follow() {
        guard following == nil, let store else { return adoptSoon() }
        let changes = reader.changes(of: store)
        following = Task { [weak self] in
            for await _ in changes {
                guard await self?.adoptNow() == true else { continue }
                if let frame = self?.frame { await frame() }  // mutant: frame
            }
            await self?.end()
        }
    }

    /// Waits for the next frame (U26). Nobody keeps a model for that.
    private var frame: (@Sendable () async -> Void)? { links.first?.sources.frame }

    /// Adopts everything that is committed, and returns whether anything changed.
    @discardableResult func adoptNow() async -> Bool {
        let isChanged = await readAndAdopt()
        for link in links { await link.followUndo() }
        return isChanged
    }

    private func readAndAdopt() async -> Bool {
        while true {
            await reader.read()
            if let isChanged = adopt() { return isChanged }
        }
    }

    /// Shows the updates that were read, in all models in one turn.
    ///
    /// - Returns: whether anything changed; nil if a model was made since the last read, so that all
    ///   models wait for the next read.
    @discardableResult func adopt() -> Bool? {
        let links = links
        let updates = reader.mailbox.take { updates in
            links.allSatisfy { updates[$0.memberID] != nil }  // mutant: one-revision
        }
        guard let updates else { return reader.mailbox.isEmpty ? false : nil }
        var isChanged = false
        for link in links {
            guard let update = updates[link.memberID] else { continue }
            shown = update.published
            if link.show(update) { isChanged = true }
        }
        return isChanged
    }

    /// Adopts what is committed and what was asked for, in a moment.
    func adoptSoon() {
        guard !isAdoptionAsked else { return }
        isAdoptionAsked = true
        Task { [weak self] in
            guard let self else { return }
            isAdoptionAsked = false
            await adoptNow()
        }
    }

    /// The store was closed.
    private func end() async {
        _ = await readAndAdopt()
        // A model that is made later follows the closed store, and ends too.
        following = nil
        for link in links { link.end() }
    }
}

private struct WeakGroup {
    weak var group: AnyObject?
}

/// The groups, by their stores.
@MainActor private var groups: [ObjectIdentifier: WeakGroup] = [:]
