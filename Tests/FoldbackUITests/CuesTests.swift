import FoldbackUI
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
        #expect(await first.next() == nil)
        #expect(await second.next() == cue(2))
        cues.send([cue(3)])
        cues.finish()
        cues.send([cue(4)])
        #expect(await second.next() == cue(3))
        #expect(await second.next() == nil)
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

    @Test func `a reader that is canceled or replaced ends, and takes no cue with it`() async {
        let cues = Cues(sources: ManualClock().sources)
        let canceled = Task { await cues.first { _ in true } }
        await Task.yield()
        canceled.cancel()
        #expect(await canceled.value == nil)
        let replaced = Task {
            var iterator = cues.makeAsyncIterator()
            return await iterator.next()
        }
        for _ in 0..<10 { await Task.yield() }
        var reader = cues.makeAsyncIterator()
        cues.send([cue(1)])
        let (old, new) = (await replaced.value, await reader.next())
        // If the task had not begun to read, it is the newest reader.
        #expect([old, new].compactMap { $0 } == [cue(1)])
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
}
