/// The messages of a screen to all pages that show it.
///
/// A page reads at its own speed. If it has fallen back too far, or has missed messages of an earlier
/// process, it gets the whole content instead, so a slow page costs no memory.
@MainActor final class Hub {
    private let boot: String
    private var content: ScreenContent
    private var rows: [WireRow] = []
    private var number = 0
    /// The last messages, by ascending number.
    private var history: ArraySlice<(number: Int, bytes: [UInt8])> = []
    private var bells: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastBell = 0
    /// The number of signs of life that were sent to all pages.
    private(set) var beats = 0

    private static let historyMax = 256

    /// - Parameter boot: distinguishes this process from earlier processes.
    init(boot: String, _ content: ScreenContent) {
        (self.boot, self.content) = (boot, content)
    }

    var revision: String { "\(boot)-\(number)" }

    /// Shows new content and tells cues. Does nothing if there is nothing new.
    ///
    /// - Parameters:
    ///   - next: the content, except the rows.
    ///   - rows: the rows after the edits.
    ///   - edits: the edits of the rows since the last call.
    ///   - cues: what to announce and focus, once.
    func show(
        _ next: ScreenContent, _ rows: [WireRow], _ edits: WireEdits, _ cues: [WireCue]
    ) {
        var message = Message(next, since: content)
        if !edits.steps.isEmpty { message.steps = edits.steps }
        if !edits.replacements.isEmpty { message.replacements = edits.replacements }
        if !cues.isEmpty { message.cues = cues }
        (content, self.rows) = (next, rows)
        guard !message.isEmpty else { return }
        number += 1
        message.revision = revision
        history.append((number, event(message)))
        history.removeFirst(max(0, history.count - Self.historyMax))
        ring()
    }

    /// Shows all pages that the server is alive.
    func beat() {
        beats += 1
        ring()
    }

    private func ring() { for bell in bells.values { bell.yield() } }

    /// The whole content as one message.
    var state: Message {
        var message = Message(content)
        (message.revision, message.reset, message.rows) = (revision, true, rows)
        return message
    }

    // MARK: Pages

    /// Returns a stream that has an element after new messages.
    func listen() -> AsyncStream<Void> {
        let (bell, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        lastBell += 1
        bells[lastBell] = continuation
        continuation.onTermination = { [weak self, lastBell] _ in
            Task { @MainActor in self?.bells[lastBell] = nil }
        }
        return bell
    }

    /// Returns the number of the message in an event id of this process; nil for other ids.
    func number(of id: String?) -> Int? {
        guard let id, id.hasPrefix(boot + "-"), let number = Int(id.dropFirst(boot.count + 1)),
            (0...self.number).contains(number)
        else { return nil }
        return number
    }

    /// Returns the events after a message, or the whole content if there are not all of them.
    ///
    /// - Parameter last: the number of the last message that the page has; nil if it has none.
    func events(after last: Int?) -> (bytes: [UInt8], last: Int) {
        guard let last, last >= (history.first?.number ?? number + 1) - 1 else {
            return (event(state), number)
        }
        return (history.filter { $0.number > last }.flatMap(\.bytes), number)
    }

    private func event(_ message: Message) -> [UInt8] {
        Array("id: \(message.revision)\ndata: ".utf8) + json(message) + Array("\n\n".utf8)
    }
}
