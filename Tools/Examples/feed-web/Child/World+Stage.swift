import Foldback
import FoldbackExamples
import FoldbackServer
import Foundation

/// What messages show of the stage, and of the authority.
extension World {
    var shownStage: WireStage {
        let settings = stage.settings
        return WireStage(
            holding: settings.isHolding, held: stage.held, offline: settings.offline.sorted(),
            rejectNext: settings.rejectsNext, delay: settings.delay,
            clock: clock.manual == nil ? "system" : "manual",
            now: clock.manual == nil ? 0 : settings.now, replicas: names, restarts: restarts,
            pid: getpid(), head: authority.space.store.status.through.value,
            lineage: authority.space.lineage.description)
    }

    private static let knownMax = 3

    /// The newest posts that a device knows only by id, as from a notification: it has not loaded them,
    /// and will not load them by itself now.
    func postsUnknown(to screen: FeedScreen) -> [WireKnownPost] {
        let isBehind =
            stage.settings.offline.contains(screen.user) || screen.feed?.data.isSuccess != true
        guard isBehind else { return [] }
        let unseen = events(for: screen.user, after: screen.replica.store.status.through)
        let unknown = unseen.reversed().lazy.compactMap { intent, event in
            let id = EventContext(.intent(intent)).id()
            return event.did.isPost && event.by != screen.user && self.hasPost(id)
                ? WireKnownPost(id: id, by: event.by) : nil
        }
        return Array(unknown.prefix(Self.knownMax))
    }

    /// Whether the authority has a post, and it is not deleted.
    func hasPost(_ id: String) -> Bool { authority.feed.author(of: id) != nil }

    /// Whether a device has all events that it may see.
    func hasAllEvents(_ user: String, after position: Position) -> Bool {
        events(for: user, after: position).isEmpty
    }

    private func events(
        for user: String, after position: Position
    ) -> [(intent: IntentID, event: FeedEvent)] {
        do throws(LogError) {
            return try authority.events(for: Account(user)!, after: position)
        } catch {
            complain("the authority's events cannot be read: \(error)")
            return []
        }
    }
}
