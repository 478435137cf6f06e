import Foldback
import FoldbackUI

/// What a page shows.
extension FeedScreen {
    /// The feed. The device may not have all posts yet (U9).
    var wireFeed: WireFeed {
        let known = model.view.order.isEmpty ? nil : model.view
        let state = feed?.state ?? FetchState()
        let data = state.data(known: known, absent: model.view)
        return WireFeed(
            busy: list.snapshot.isBusy || data.isLoading,
            empty: data.isSuccess && list.snapshot.rowCount == 0,
            error: problem ?? data.failure?.reason,
            edges: .init(start: "end", end: "end"))
    }

    /// Why the feed cannot be shown or changed at all.
    private var problem: String? {
        switch model.condition {
        case .open: list.failure?.description
        case .latched(let failure): "Nothing can be saved now: \(failure)"
        case .damaged(let reason): "Nothing can be saved, because the log is damaged: \(reason)"
        case .unreadable(let reason): "Some changes cannot be read: \(reason)"
        case .closed: "The log is closed."
        }
    }

    var writer: RowWriter {
        RowWriter(
            user: user, pause: pause?.cause, sending: upload?.draft, unsent: unsentPhotos
        ) { self.name(of: $0) }
    }

    func content(_ feed: WireFeed) -> ScreenContent {
        ScreenContent(
            feed: feed, waits: waits.shown, blocked: blocked, people: people,
            known: world.postsUnknown(to: self),
            chart: chart?.data.success ?? [], signedIn: isSignedIn, account: account, log: log,
            undo: WireUndo(undo: undo.undoName, redo: undo.redoName),
            stage: world.shownStage)
    }

    private var blocked: [String] {
        let blocking = waits.appearances.blocking
        guard !blocking.isEmpty else { return [] }
        if blocking == .all { return ["*"] }
        return model.view.order.filter { blocking.intersects(.items($0)) }.map { "item:\($0)" }
    }

    private var people: [String: WirePerson] {
        let writer = writer
        let names = model.view.authors.union(world.names).subtracting([user])
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                let isFollowed = model.view.feed.followers[name]?.contains(user) ?? false
                let status = model.status(of: Timeline.personItem(name))
                return (name, writer.person(isFollowed: isFollowed, status))
            })
    }

    private var account: WireAccount {
        // The revision is observed, and the store is not.
        _ = model.revision
        let snapshot = replica.store.snapshot
        let conflicted = Set(snapshot.conflicted)
        // Each intent is counted once.
        let count = { (numbers: [IntentNumber]) in numbers.count { !conflicted.contains($0) } }
        return WireAccount(
            pending: count(snapshot.pending), rejected: model.rejections.count,
            accepted: count(snapshot.accepted), conflicted: conflicted.count,
            paused: pause?.words, sync: words)
    }

    private static let lanesMax: UInt64 = 6

    /// The latest intents, each from the entry that recorded it to the entry that settled it.
    private var log: WireLog {
        // The revision is observed, and the store is not.
        _ = model.revision
        let store = replica.store
        let conflicted = store.snapshot.conflicted
        let next = store.status.nextIntent.value
        do throws(LogError) {
            let lanes = try (max(next, Self.lanesMax + 1) - Self.lanesMax..<next).map {
                number throws(LogError) in
                let intent = try store.intent(IntentNumber(number))
                let isSettled = intent.state.isSettled
                let isConflicted = !isSettled && conflicted.contains(intent.id.number)
                return WireLane(
                    number: number, what: intent.event?.did.name ?? "change",
                    from: intent.sequence.value,
                    to: isSettled ? intent.answer?.sequence.value : nil,
                    state: isConflicted ? "conflicted" : intent.state.rawValue)
            }
            return WireLog(last: store.status.sequence.value, lanes: lanes)
        } catch {
            // The condition of the model says so on the page.
            complain("the log of \(user) cannot be read: \(error)")
            return WireLog(last: 0, lanes: [])
        }
    }
}
