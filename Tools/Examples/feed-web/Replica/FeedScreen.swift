import Foldback
import FoldbackExamples
import FoldbackSync
import FoldbackUI
import Observation
import Synchronization

/// The screen of one device: the models that a page shows.
@MainActor @Observable final class FeedScreen {
    let replica: Replica
    let model: OptimisticModel<Timeline>
    let list: ListModel<String, FeedItem>
    /// What the person can undo. Comments and boosts are not in it, because nothing reverses them.
    let undo: UndoModel<FeedEvent>
    let waits: Waits
    @ObservationIgnored let world: World
    @ObservationIgnored let calls: ServerCalls
    /// What the rows depend on beside the view.
    @ObservationIgnored private let input = Input(FeedList())

    /// The first load of the feed, and later refreshes.
    var feed: FetchModel<Position, AuthorityFailure>?
    /// The posts that were opened before they were loaded.
    var opened: [String: FetchModel<Void, ServerFailure>] = [:]
    var chart: FetchModel<[Double], ServerFailure>?
    var signIn: FetchModel<Void, ServerFailure>?
    var upload: Upload?
    /// The drafts whose photos were not sent. They wait for a person, or for the network.
    @ObservationIgnored var unsentPhotos: [IntentNumber: UnsentPhoto] = [:]
    /// The boosts that have had a wait, by post.
    @ObservationIgnored var boosts: [String: Boost] = [:]
    /// Why nothing is sent.
    private(set) var pause: SyncPause?
    /// What the sync does.
    private let status: StatusModel<SyncStatus>
    /// What the sync does, and what the person can do about it.
    var words: String {
        [status.value.message, status.value.suggestion].compactMap(\.self).joined(separator: " ")
    }
    private(set) var isSignedIn: Bool

    @ObservationIgnored private(set) lazy var publisher = Publisher(
        boot: world.boot, list, writer: { [unowned self] in writer },
        content: { [unowned self] in content(wireFeed) },
        adoptCommits: { [model] in await model.adoptCommits() })
    /// Made when a page asks for it.
    @ObservationIgnored private(set) var archive: ArchiveScreen?
    /// The rejections that were told.
    @ObservationIgnored private(set) var told: Set<IntentNumber> = []
    /// The intents that did not apply when a person was last told of conflicts.
    @ObservationIgnored private(set) var toldConflicts: Set<IntentNumber> = []

    var user: String { replica.name }

    init(_ replica: Replica, in world: World) {
        (self.replica, self.world) = (replica, world)
        calls = ServerCalls(user: replica.name, stage: world.stage)
        isSignedIn = !world.stage.settings.signedOut.contains(replica.name)
        status = StatusModel(replica.sync.status)
        model = OptimisticModel(replica.store, sources: world.clock.ui)
        undo = model.undoModel()
        list = ListModel(of: model) { [input] list, timeline throws(ListError) in
            input.value.build(&list, timeline)
        } ghost: { intent, timeline in
            FeedList.ghost(of: intent, in: timeline)
        }
        waits = Waits()
        waits.hear = { [weak self] in self?.tell($0) }
        listen()
        // The last process may have ended during an upload.
        followDrafts(by: .app)
    }

    private func listen() {
        told = Set(replica.store.rejections)
        Task { [weak self, news = model.news(after: model.revision)] in
            do {
                for try await answered in news { self?.note(answered) }
            } catch { complain("the answers cannot be read: \(error)") }
        }
        toldConflicts = Set(replica.store.snapshot.conflicted)
        Task { [weak self, views = replica.store.views] in
            for await snapshot in views { await self?.noteConflicts(snapshot) }
        }
        Task { [status, sync = replica.sync] in await status.follow(sync.statuses) }
        Task { [weak self, sync = replica.sync] in
            for await status in sync.statuses { self?.noteStatus(status) }
        }
    }

    /// Tells a person that an intent was rejected. The view is without it already (U27).
    private func note(_ answered: AnsweredIntent<FeedEvent>) {
        guard case .rejected(let rejection) = answered.answer.content,
            told.insert(answered.answer.intent).inserted,
            !hasWait(answered.answer.intent)
        else { return }
        guard case .user = answered.initiator else { return }
        let what = answered.event?.did.name.capitalized ?? "Change"
        tell("\(what) rejected. \(rejection.message)", isAssertive: true)
    }

    /// Tells a person that an intent does not apply any more. The view is without it already.
    private func noteConflicts(_ snapshot: Snapshot<Timeline>) async {
        let new = snapshot.conflicted.filter { !toldConflicts.contains($0) && !hasWait($0) }
        defer { toldConflicts = Set(snapshot.conflicted) }
        guard !new.isEmpty else { return }
        await model.adoptCommits()
        for number in new {
            let reason = snapshot.conflict(of: number) ?? ""
            tell("Your \(name(of: number)) does not fit any more: \(reason).", isAssertive: true)
        }
    }

    private func noteStatus(_ status: SyncStatus) {
        guard pause != status.outbox.pause else { return }
        pause = status.outbox.pause
        model.waitCause = pause?.cause ?? .unknown
        if pause == nil { retryUnreachable() }
        publisher.rewriteMarks()
    }

    /// A page shows the screen.
    func appear(_ query: PageQuery) async throws -> Publisher {
        waits.policy = query.policy
        // A page that was there before the last crash must not see an empty list.
        if list.isLoading { await list.rebuild() }
        if feed == nil { await load(by: .app) }
        return query.isArchive ? try await archivePublisher() : publisher
    }

    /// Opens the archive if no page has shown it yet.
    func archivePublisher() async throws -> Publisher {
        if let archive { return archive.publisher }
        let store = try await world.archive.store()
        let made = archive ?? ArchiveScreen(store, self)
        archive = made
        return made.publisher
    }

    func tell(_ words: String, isAssertive: Bool) {
        tell(WireCue(announce: words, assertive: isAssertive))
    }

    func tell(_ cue: WireCue) {
        publisher.tell(cue)
        archive?.publisher.tell(cue)
    }

    /// Sends what has changed to all pages.
    func show() {
        publisher.show()
        archive?.publisher.show()
    }

    func setSignedIn(_ isSignedIn: Bool) {
        self.isSignedIn = isSignedIn
        world.stage.change {
            if isSignedIn { $0.signedOut.remove(user) } else { $0.signedOut.insert(user) }
        }
        replica.setSignedIn(isSignedIn)
    }

    /// Changes what the rows depend on beside the view. On return, the list shows it.
    func changeList(_ body: (inout FeedList) -> Void) async {
        input.change(body)
        await list.rebuild()
    }

    /// What an intent that has a mark does, in one word.
    func name(of number: IntentNumber) -> String {
        (try? replica.store.intent(number))?.event?.did.name ?? "change"
    }
}

/// A value that a function on another thread reads.
private final class Input<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) { content.withLock { body(&$0) } }
}
