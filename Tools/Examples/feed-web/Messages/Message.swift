/// One message to a page. A part that is absent has not changed.
struct Message: Encodable, Equatable, Sendable {
    var revision = ""
    /// True for a message with the whole state; absent otherwise.
    var reset: Bool?
    /// All rows, in a message with the whole state.
    var rows: [WireRow]?
    /// The edits of the rows, one after another.
    var steps: [WireStep]?
    var replacements: [WireReplacement]?
    var feed: WireFeed?
    var waits: [String: WireWait]?
    var blocked: [String]?
    var cues: [WireCue]?
    var people: [String: WirePerson]?
    /// Posts whose id is known, and which the device does not have yet.
    var known: [WireKnownPost]?
    /// The points; none if the chart is not shown.
    var chart: [Double]?
    var signedIn: Bool?
    var account: WireAccount?
    var log: WireLog?
    var undo: WireUndo?
    var stage: WireStage?

    /// Whether nothing has changed.
    var isEmpty: Bool { self == Message() }
}

/// A row of the list.
struct WireRow: Encodable, Equatable, Sendable {
    let id: String
    let kind: String
    let post: String?
    var by: String?
    var text: String?
    var likes: Int?
    var liked: Bool?
    var likers: [String]?
    var comments: Int?
    var reach: Int?
    var photo: String?
    /// False if only the id is known.
    let loaded: Bool
    var mine: Bool?
    let state: String
    let ghost: Bool
    let marks: [WireMark]
}

/// An intent at a row or a person.
struct WireMark: Encodable, Equatable, Sendable {
    let number: UInt64
    let what: String
    let state: String
    /// The state in words.
    let text: String
    let reason: String?
    let attempts: Int
    let actions: [String]
}

/// One edit of the list: one of the first four is the place of the edited row.
struct WireStep: Encodable, Equatable, Sendable {
    var insert: Int?
    var delete: Int?
    var move: Int?
    var change: Int?
    /// The new place of a moved row.
    var to: Int?
    /// The content of an inserted or changed row.
    var row: WireRow?
}

/// A deleted and an inserted row that show the same thing.
struct WireReplacement: Encodable, Equatable, Sendable {
    let old: String
    let new: String
}

struct WireFeed: Encodable, Equatable, Sendable {
    struct Edges: Encodable, Equatable, Sendable {
        let start: String
        let end: String
    }

    let busy: Bool
    /// Whether the feed is known to have no posts.
    let empty: Bool
    let error: String?
    let edges: Edges
    /// How many rows come before the first row.
    var before: Int?
    /// How many rows there are in all.
    var total: Int?
}

struct WireKnownPost: Encodable, Equatable, Sendable {
    let id: String
    let by: String
}

struct WirePerson: Encodable, Equatable, Sendable {
    let followed: Bool
    let state: String
    let marks: [WireMark]
}

struct WireAccount: Encodable, Equatable, Sendable {
    let pending: Int
    let rejected: Int
    let accepted: Int
    let conflicted: Int
    /// Why nothing is sent; absent if nothing prevents it.
    let paused: String?
    /// The status of the sync, in sentences.
    let sync: String
}

/// The latest intents of a device's log.
struct WireLog: Encodable, Equatable, Sendable {
    /// The number of entries.
    let last: UInt64
    /// By ascending number.
    let lanes: [WireLane]
}

/// An intent from the entry that recorded it to the entry that settled it.
struct WireLane: Encodable, Equatable, Sendable {
    let number: UInt64
    let what: String
    let from: UInt64
    /// Absent while the intent is pending or accepted.
    let to: UInt64?
    let state: String
}

/// The names of the actions that can be undone and redone now.
struct WireUndo: Encodable, Equatable, Sendable {
    let undo: String?
    let redo: String?
}

struct WireStage: Encodable, Equatable, Sendable {
    let holding: Bool
    let held: [StagedRequest]
    let offline: [String]
    let rejectNext: Bool
    let delay: Double
    let clock: String
    /// The seconds of a manual clock; 0 for the system's clock, which moves all the time.
    let now: Double
    let replicas: [String]
    let restarts: Int
    let pid: Int32
    /// The position of the newest decision.
    let head: UInt64
    /// Another one for new logs.
    let lineage: String
}

/// Something to announce or to focus, once.
struct WireCue: Encodable, Equatable, Sendable {
    var announce: String?
    var assertive: Bool?
    /// The wait whose indicator gets the focus.
    var focus: String?
    /// The element that gets the focus back.
    var restore: String?
    /// Whether the focus goes to the top of the page.
    var top: Bool?
}
