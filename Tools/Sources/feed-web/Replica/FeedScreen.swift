import Foldback
import FoldbackExamples
import FoldbackSync
import FoldbackUI
import Observation
import Synchronization

/// The screen of one device: the models that a page shows, and the messages about their changes.
@MainActor @Observable final class FeedScreen {
    let replica: Replica
    let model: OptimisticModel<Timeline>
    let list: ListModel<String, FeedItem>
    let waits: Waits
    @ObservationIgnored let stage: StageView
    @ObservationIgnored private(set) lazy var hub = Hub(boot: boot, content())
    @ObservationIgnored private let boot: String
    /// Why nothing is sent.
    private(set) var pause: OutboxStatus.Pause?
    /// What the rows depend on beside the view.
    @ObservationIgnored private let input: Input<FeedList>
    var isLoading = false
    var loadFailure: String?
    var isLoaded = false
    var isSignedIn = true
    var chart: WireChart?

    /// The cues that are not in a message yet.
    @ObservationIgnored private var cues: [WireCue] = []
    /// The names of intents, which do not change.
    @ObservationIgnored private var names: [IntentNumber: String] = [:]
    /// The number of the last content.
    @ObservationIgnored private var shown = 0
    @ObservationIgnored let clock: FeedClock

    var user: String { replica.name }

    init(_ replica: Replica, _ stage: StageView, _ clock: FeedClock, boot: String) {
        (self.replica, self.stage, self.clock, self.boot) = (replica, stage, clock, boot)
        model = OptimisticModel(replica.store, sources: clock.ui)
        let input = Input(FeedList())
        self.input = input
        list = ListModel(of: model) { list, timeline throws(ListError) in
            input.value.build(&list, timeline)
        } ghost: { intent, timeline in
            FeedList.ghost(of: intent, in: timeline)
        }
        let ear = Ear()
        waits = Waits(clock.ui, .english) { ear.hear($0) }
        ear.hear = { [weak self] in self?.tell($0) }
        Task { [weak self, model] in
            for await cue in model.cues {
                self?.tell(WireCue(cue, of: "intent", .english))
            }
        }
        Task { [weak self, outbox = replica.outbox] in
            for await status in outbox.statuses { self?.pause = status.pause }
        }
        show()
    }

    private func tell(_ cue: WireCue) {
        cues.append(cue)
        show()
    }

    /// A page shows the screen.
    func appear() {
        if !isLoaded { load() }
    }

    // MARK: Messages

    /// Sends what has changed. On return, all pages can read it.
    func show() {
        shown += 1
        let content = withObservationTracking {
            self.content()
        } onChange: { [weak self, shown] in
            Task { @MainActor in self?.changed(since: shown) }
        }
        let cues = self.cues
        self.cues = []
        hub.show(content, cues)
    }

    private func changed(since content: Int) {
        if content == shown { show() }
    }

    private func content() -> ScreenContent {
        let list = list.snapshot
        let writer = RowWriter(user: user, pause: pause?.cause) { self.name(of: $0) }
        return ScreenContent(
            list: list,
            rows: list.sections.flatMap(\.rows).map(writer.row), feed: feed(list),
            waits: waits.shown, blocked: blocked, people: people(writer), chart: chart,
            signedIn: isSignedIn, account: account, stage: stage.shown)
    }

    /// Changes what the rows depend on beside the view. On return, the list shows it.
    func changeList(_ body: (inout FeedList) -> Void) async {
        input.change(body)
        await list.rebuild()
    }

    private func feed(_ list: FeedSnapshot) -> WireFeed {
        WireFeed(
            busy: list.isBusy || isLoading, empty: isLoaded && model.view.newestFirst.isEmpty,
            error: loadFailure, edges: .init(start: "end", end: "end"))
    }

    private var blocked: [String] {
        let blocking = waits.appearances.blocking
        guard !blocking.isEmpty else { return [] }
        if blocking == .all { return ["*"] }
        return model.view.order.filter { blocking.intersects(.items($0)) }.map { "item:\($0)" }
    }

    private func people(_ writer: RowWriter) -> [String: WirePerson] {
        var names = Set(model.view.feed.posts.values.map(\.by))
        names.formUnion(stage.shown.replicas)
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

    /// What an intent does, in one word.
    private func name(of number: IntentNumber) -> String {
        if let name = names[number] { return name }
        let name = (try? replica.store.intent(number).event?.did.name) ?? "change"
        names[number] = name
        return name
    }
}

/// Passes cues on to a screen that is made later.
@MainActor private final class Ear {
    var hear: (WireCue) -> Void = { _ in }
}

/// A value that a function on another thread reads.
private final class Input<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) { content.withLock { body(&$0) } }
}
