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
    /// The parts that have changed since an earlier content; all of them if there is none.
    init(_ new: ScreenContent, since old: ScreenContent? = nil) {
        func part<Part: Equatable>(_ path: KeyPath<ScreenContent, Part>) -> Part? {
            let part = new[keyPath: path]
            return old?[keyPath: path] == part ? nil : part
        }
        feed = part(\.feed)
        waits = part(\.waits)
        blocked = part(\.blocked)
        people = part(\.people)
        known = part(\.known)
        chart = part(\.chart)
        signedIn = part(\.signedIn)
        account = part(\.account)
        log = part(\.log)
        undo = part(\.undo)
        stage = part(\.stage)
    }
}
