import Foldback
import FoldbackUI

/// What a page shows.
extension FeedScreen {
    /// The feed, of which the device may not have everything yet (U9).
    private var data: RemoteData<Timeline, AuthorityFailureInWords> {
        let known = model.view.order.isEmpty ? nil : model.view
        return feed.data(known: known, absent: model.view)
            .mapError { AuthorityFailureInWords(words: $0.reason) }
    }

    /// The rows, or placeholders while nothing is known.
    var shownList: FeedSnapshot {
        let snapshot = list.snapshot
        let isEmpty = snapshot.rowCount == 0
        return isEmpty && (data.isLoading || data.isNotAsked) ? FeedList.placeholders : snapshot
    }

    var wireFeed: WireFeed {
        let data = data
        return WireFeed(
            busy: shownList.isBusy || data.isLoading,
            empty: data.success.map { $0.newestFirst.isEmpty } ?? false,
            error: data.failure?.words, edges: .init(start: "end", end: "end"))
    }

    func content(list: FeedSnapshot, feed: WireFeed) -> ScreenContent {
        let writer = RowWriter(user: user, pause: pause?.cause) { self.name(of: $0) }
        return ScreenContent(
            list: list, rows: list.sections.flatMap(\.rows).map(writer.row), feed: feed,
            waits: waits.shown, blocked: blocked, people: people(writer),
            known: stageView.postsUnknown(to: self),
            chart: chart?.data.success.map(WireChart.init), signedIn: isSignedIn, account: account,
            stage: stageView.shown)
    }

    private var blocked: [String] {
        let blocking = waits.appearances.blocking
        guard !blocking.isEmpty else { return [] }
        if blocking == .all { return ["*"] }
        return model.view.order.filter { blocking.intersects(.items($0)) }.map { "item:\($0)" }
    }

    private func people(_ writer: RowWriter) -> [String: WirePerson] {
        var names = Set(model.view.feed.posts.values.map(\.by))
        names.formUnion(stageView.shown.replicas)
        names.remove(user)
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                let isFollowed = model.view.feed.followers[name]?.contains(user) ?? false
                let status = model.status(of: Timeline.personItem(name))
                return (name, writer.person(isFollowed: isFollowed, status))
            })
    }

    private var account: WireAccount {
        // Reading the revision observes the overlay too.
        _ = model.revision
        let snapshot = replica.store.snapshot
        return WireAccount(
            pending: snapshot.pending.count, rejected: model.rejections.count,
            accepted: snapshot.accepted.count, conflicted: snapshot.conflicted.count,
            paused: pause?.words)
    }
}

/// Why the feed was not loaded.
private struct AuthorityFailureInWords: Error {
    let words: String
}
