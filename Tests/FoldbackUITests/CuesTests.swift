import FoldbackUI
import Synchronization
import Testing

@Suite struct CuesTests {
    private func cue(_ number: Int) -> Cue { .moveFocus(.origin("\(number)")) }

    @Test func `each cue is delivered once and in order, also those sent before there is a reader`()
        async
    {
        let cues = Cues(sources: ManualClock().sources)
        cues.send([cue(1), cue(2)])
        cues.send([])
        var first = cues.makeAsyncIterator()
        #expect(await first.next() == cue(1))
        var second = cues.makeAsyncIterator()
        #expect(await second.next() == cue(2))
        cues.send([cue(3)])
        cues.finish()
        cues.send([cue(4)])
        #expect(await second.next() == cue(3))
        #expect(await second.next() == nil)
        #expect(await first.next() == nil)
    }

    /// A sheet that read the cues of its screen left the screen without announcements for good.
    @Test func `a reader waits for a newer reader, and goes on when that has ended`() async {
        let cues = Cues(sources: ManualClock().sources)
        let heard = HeardCues()
        let screen = Task { await heard.read(cues, "screen", 4) }
        await heard.waitForLines(1)
        cues.send([cue(1)])
        await heard.waitForLines(2)
        let sheet = Task { await heard.read(cues, "sheet", 9) }
        await heard.waitForLines(3)
        cues.send([cue(2)])
        await heard.waitForLines(4)
        let alert = Task { await heard.read(cues, "alert", 1) }
        await heard.waitForLines(5)
        cues.send([cue(3)])
        await alert.value
        cues.send([cue(4)])
        await heard.waitForLines(7)
        sheet.cancel()
        cues.send([cue(5), cue(6)])
        await sheet.value
        cues.send([cue(7)])
        await screen.value
        #expect(
            heard.lines == [
                "screen opens", "screen 1", "sheet opens", "sheet 2", "alert opens", "alert 3",
                "sheet 4", "screen 5", "screen 6", "screen 7",
            ])
    }

    @Test func `a reader that waits for a newer reader can be canceled, and ends with the cues`()
        async
    {
        let cues = Cues(sources: ManualClock().sources)
        let heard = HeardCues()
        let canceled = Task { await heard.read(cues, "screen", 1) }
        await heard.waitForLines(1)
        let older = Task { await heard.read(cues, "sheet", 1) }
        await heard.waitForLines(2)
        var newest = cues.makeAsyncIterator()
        canceled.cancel()
        await canceled.value
        cues.send([cue(1)])
        #expect(await newest.next() == cue(1))
        cues.finish()
        await older.value
        #expect(await newest.next() == nil)
        #expect(heard.lines == ["screen opens", "sheet opens"])
    }

    @Test func `a waiting reader gets the first of several cues`() async {
        let cues = Cues(sources: ManualClock().sources)
        let sent = (1...50).map(cue)
        let reader = Task { await cues.prefix(sent.count).reduce(into: []) { $0.append($1) } }
        for cue in sent {
            cues.send([cue])
            await Task.yield()
        }
        #expect(await reader.value == sent)
    }

    @Test func `a reader that is canceled ends, and takes no cue with it`() async {
        let cues = Cues(sources: ManualClock().sources)
        let canceled = Task { await cues.first { _ in true } }
        await Task.yield()
        canceled.cancel()
        #expect(await canceled.value == nil)
        var reader = cues.makeAsyncIterator()
        cues.send([cue(1)])
        #expect(await reader.next() == cue(1))
    }

    @Test func `U15: a cue that has waited for more than ten seconds is dropped`() async {
        let clock = ManualClock()
        let cues = Cues(sources: clock.sources)
        cues.send([cue(1)])
        clock.advance(by: .seconds(5))
        cues.send([cue(2)])
        clock.advance(by: .seconds(10))
        cues.send([cue(3)])
        var reader = cues.makeAsyncIterator()
        #expect(await reader.next() == cue(2))
        clock.advance(by: .nanoseconds(1))
        #expect(await reader.next() == cue(3))
        cues.send([cue(4)])
        clock.advance(by: .seconds(11))
        cues.finish()
        #expect(await reader.next() == nil)
    }

    @Test func `of too many cues without a reader, the newest wait`() async {
        let cues = Cues(sources: ManualClock().sources)
        for number in 0..<Cues.pendingMax + 5 { cues.send([cue(number)]) }
        cues.finish()
        let kept = await cues.reduce(into: []) { $0.append($1) }
        #expect(kept == (5..<Cues.pendingMax + 5).map(cue))
    }

    // MARK: Focus

    /// A view that disappeared during a wait put the focus nowhere when it was back.
    @Test func `U16: what had the focus before is known to a view that did not see it move`() {
        let cues = Cues(sources: ManualClock().sources)
        let field = FocusTarget.origin("field")
        #expect(cues.focus(for: .moveFocus(.indicator), from: field) == .indicator)
        // The overlay disappears with its spinner, and appears again.
        #expect(cues.focus(for: .moveFocus(.indicator), from: nil) == .indicator)
        #expect(cues.focus(for: .restoreFocus(.previous), from: .indicator) == field)
        // It is restored once.
        #expect(cues.focus(for: .restoreFocus(.previous), from: .top) == .top)
    }

    @Test func `U16: an overlay that took the focus from nothing gives it back to nothing`() {
        let cues = Cues(sources: ManualClock().sources)
        #expect(cues.focus(for: .moveFocus(.indicator), from: nil) == .indicator)
        #expect(cues.focus(for: .restoreFocus(.previous), from: .indicator) == nil)
    }

    @Test func `U16: if no view saw an overlay end, the next overlay gives the focus back`() {
        let cues = Cues(sources: ManualClock().sources)
        #expect(cues.focus(for: .moveFocus(.indicator), from: .origin("a")) == .indicator)
        #expect(cues.focus(for: .moveFocus(.indicator), from: .origin("b")) == .indicator)
        #expect(cues.focus(for: .restoreFocus(.previous), from: nil) == .origin("b"))
    }

    @Test func `U16: only cues about the focus move it, and a target with a name is itself`() {
        let cues = Cues(sources: ManualClock().sources)
        let announcement = Cue.announce(.activity(.loading), .polite)
        #expect(cues.focus(for: announcement, from: .origin("field")) == .origin("field"))
        #expect(cues.focus(for: .moveFocus(.indicator), from: .top) == .indicator)
        let button = FocusTarget.origin("button")
        #expect(cues.focus(for: .restoreFocus(button), from: .indicator) == button)
        // A new screen is shown, so the focus before is forgotten.
        #expect(cues.focus(for: .restoreFocus(.previous), from: button) == button)
    }
}

private final class HeardCues: Sendable {
    private let content = Mutex<[String]>([])

    var lines: [String] { content.withLock(\.self) }

    func read(_ cues: Cues, _ reader: String, _ count: Int) async {
        var iterator = cues.makeAsyncIterator()
        add("\(reader) opens")
        for _ in 0..<count {
            guard let cue = await iterator.next() else { return }
            add("\(reader) \(cue.name)")
        }
    }

    private func add(_ line: String) { content.withLock { $0.append(line) } }

    func waitForLines(_ count: Int) async { while lines.count < count { await Task.yield() } }
}

extension Cue {
    fileprivate var name: String {
        if case .moveFocus(.origin(let name)) = self { name } else { "\(self)" }
    }
}
