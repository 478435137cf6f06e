/// All that a page shows at one moment, except its rows.
struct ScreenContent: Equatable, Sendable {
    let feed: WireFeed
    let waits: [String: WireWait]
    let blocked: [String]
    let people: [String: WirePerson]
    let known: [WireKnownPost]
    let chart: [Double]
    let signedIn: Bool
    let account: WireAccount
    let log: WireLog
    let undo: WireUndo
    let stage: WireStage
}

extension Message {
    /// The whole content.
    init(_ content: ScreenContent, _ rows: [WireRow]) {
        reset = true
        self.rows = rows
        feed = content.feed
        waits = content.waits
        blocked = content.blocked
        people = content.people
        known = content.known
        chart = .some(content.chart)
        signedIn = content.signedIn
        account = content.account
        log = content.log
        undo = content.undo
        stage = content.stage
    }

    /// What has changed.
    init(from old: ScreenContent, to new: ScreenContent, _ edits: WireEdits, _ cues: [WireCue]) {
        if !edits.steps.isEmpty { steps = edits.steps }
        if !edits.replacements.isEmpty { replacements = edits.replacements }
        if new.feed != old.feed { feed = new.feed }
        if new.waits != old.waits { waits = new.waits }
        if new.blocked != old.blocked { blocked = new.blocked }
        if new.people != old.people { people = new.people }
        if new.known != old.known { known = new.known }
        if new.chart != old.chart { chart = .some(new.chart) }
        if new.signedIn != old.signedIn { signedIn = new.signedIn }
        if new.account != old.account { account = new.account }
        if new.log != old.log { log = new.log }
        if new.undo != old.undo { undo = new.undo }
        if new.stage != old.stage { stage = new.stage }
        if !cues.isEmpty { self.cues = cues }
    }
}
