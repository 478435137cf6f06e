import FoldbackUI
import Observation

/// Sends messages about a screen: the edits of its list, and what else has changed.
@MainActor final class Publisher {
    let hub: Hub
    private let list: ListModel<String, FeedItem>
    private let writer: @MainActor () -> RowWriter
    private let content: @MainActor () -> ScreenContent
    private let adoptCommits: @MainActor () async -> Void
    private var rows = WireList()
    /// The cues that are not in a message yet.
    private var cues: [WireCue] = []
    /// The number of the last content.
    private var shown = 0
    /// Whether there may be a change that is not in a message yet.
    private(set) var isStale = false

    /// - Parameters:
    ///   - boot: distinguishes this process from earlier processes.
    ///   - list: the list of the screen.
    ///   - writer: returns what makes messages of rows.
    ///   - content: computes what else a page shows, from observable objects of the main actor.
    ///   - adoptCommits: makes the models show everything that is committed. The authority is in this
    ///     process, and can have an intent before the models show it.
    init(
        boot: String, _ list: ListModel<String, FeedItem>,
        writer: @escaping @MainActor () -> RowWriter,
        content: @escaping @MainActor () -> ScreenContent,
        adoptCommits: @escaping @MainActor () async -> Void
    ) {
        (self.list, self.writer, self.content) = (list, writer, content)
        self.adoptCommits = adoptCommits
        hub = Hub(boot: boot, content())
        show()
    }

    func tell(_ cue: WireCue) {
        cues.append(cue)
        show()
    }

    /// Writes the texts of all marks again.
    func rewriteMarks() {
        rows.rewriteMarks(writer())
        showSoon()
    }

    /// Sends what has changed. On return, all pages can read it.
    func show() {
        shown += 1
        isStale = false
        let (next, snapshot) = withObservationTracking {
            (content(), list.snapshot)
        } onChange: { [weak self, shown] in
            // Everything that is observed changes on the main actor.
            MainActor.assumeIsolated { self?.changes(since: shown) }
        }
        rows.show(snapshot, writer())
        hub.show(next, rows.rows, rows.takeEdits(), cues)
        cues = []
    }

    /// The list or something of the content is about to change.
    private func changes(since content: Int) {
        if content == shown { showSoon() }
    }

    /// Shows all changes of this turn of the main actor in one message.
    private func showSoon() {
        guard !isStale else { return }
        isStale = true
        Task { [shown] in
            await adoptCommits()
            // Another message may have come meanwhile.
            if isStale, shown == self.shown { show() }
        }
    }
}
