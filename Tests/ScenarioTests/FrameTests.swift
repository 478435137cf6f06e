import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// The question behind these tests: does a page that only applies patches show the states of the log?
@Suite struct FrameTests {
    /// Property: the patches of the frames lead from each state to the next, for every projection, wherever the
    /// frames start.
    @Test(arguments: LogKind.allCases)
    func `the patches of the frames make the state after each entry`(kind: LogKind) async throws {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 4, full: 12) {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(kind, steps: 60, using: &random).store
            let reader = try LogReader(RecordedHistory<[UInt8]>(ndjson: try store.history().ndjson))
            let start = UInt64.random(in: 0...store.status.sequence.value, using: &random)
            try Self.check(Board.self, of: reader, after: LogSequence(start), seed)
            try Self.check(PlacedBoard.self, of: reader, after: 0, seed)
            try Self.check(RowsInMemory<RowBoard>.self, of: reader, after: 0, seed)
        }
    }

    private static func check<P: Projection>(
        _ projection: P.Type, of reader: LogReader, after start: LogSequence, _ seed: UInt64
    ) throws {
        var frames = try reader.frames(of: projection, after: start)
        var skipping = frames
        var state = frames.state
        while let frame = try frames.next() {
            for operation in frame.patch.operations {
                state = try #require(
                    state.naivelyPatched(operation, operation.place.names[...]),
                    "seed \(seed), entry \(frame.entry.sequence): \(operation)")
            }
            state = state.with("sequence", .of(frame.entry.sequence))
            let snapshot = try reader.snapshot(of: projection, at: frame.entry.sequence)
            try #require(state == snapshot.json, "seed \(seed), entry \(frame.entry.sequence)")
            #expect(try skipping.skip() && skipping.state == frames.state)
        }
        #expect(try !skipping.skip())
    }

    /// Property: the frames have the chapters of each intent's story that concern other intents.
    @Test func `a frame has the changed intents of the stories`() async throws {
        // An intent that undoes a conflicted one comes into the view when that one is confirmed.
        let found: [UInt64] = [3_324_076_676_281_019_398]
        for seed in found
            + (HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 2, full: 6))
        {
            var random = SeededGenerator(seed: seed)
            let store = try await RandomHistory.ofAnything(.downlink, steps: 60, using: &random)
                .store
            let reader = try LogReader(RecordedHistory<[UInt8]>(ndjson: try store.history().ndjson))
            var others: [LogSequence: [IntentStory<Move>.ChangedIntent]] = [:]
            var frames = try reader.frames(of: Board.self, after: 0)
            while let frame = try frames.next() { others[frame.entry.sequence] = frame.others }
            for number in 1..<max(1, store.status.nextIntent.value) {
                let number = IntentNumber(number)
                for chapter in try reader.story(of: number, in: Board.self).chapters {
                    let later = others[chapter.entry.sequence]?.filter { $0.number > number }
                    #expect(later == chapter.others, "seed \(seed), intent \(number)")
                }
            }
        }
    }

    @Test func `a patch keeps the equal ends of an array`() throws {
        var patch = JSONPatch()
        let (old, new): (JSON, JSON) = (["a", "b", "c", "d"], ["a", "x", "y", "b", "c", "d"])
        patch.change(old, to: new, at: JSONPointer([]))
        #expect(patch.operations.map(\.kind) == [.add, .add])
        #expect(
            try old.naivelyPatched(patch.operations) == new && JSONPatch().json == JSON.array([]))
    }
}

/// A board that says which places its events touch. The places are inside of a value that may be absent.
private struct PlacedBoard: TraceableProjection {
    private(set) var boards: [String: Board] = [:]

    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        try boards["all", default: Board()].apply(move, context)
    }

    static func places(touchedBy move: Move, _ context: EventContext) -> [JSONPointer]? {
        switch move {
        case .set(let key, _), .add(let key, _), .claim(let key), .remove(let key):
            [JSONPointer(["boards", "all", "cells", ExactString(key)])]
        case .replaceAll, .sweep: nil
        }
    }
}

extension JSON {
    /// Applies operations as RFC 6902 says, without a thought for speed. Nil if one does not apply.
    fileprivate func naivelyPatched(_ operations: [JSONPatch.Operation]) throws -> JSON? {
        operations.reduce(JSON?.some(self)) { $0?.naivelyPatched($1, $1.place.names[...]) }
    }

    fileprivate func naivelyPatched(
        _ operation: JSONPatch.Operation, _ names: ArraySlice<ExactString>
    ) -> JSON? {
        guard let name = names.first else {
            return operation.kind == .replace ? operation.value : nil
        }
        let isLast = names.count == 1
        switch self {
        case .object(var object):
            guard isLast else {
                guard let inner = object[name]?.naivelyPatched(operation, names.dropFirst()) else {
                    return nil
                }
                object[name] = inner
                return .object(object)
            }
            guard operation.kind == .add || object[name] != nil else { return nil }
            object[name] = operation.value
            return .object(object)
        case .array(var elements):
            guard let index = Int(name.string), index <= elements.count else { return nil }
            switch (isLast, operation.kind, operation.value) {
            case (true, .add, let value?): elements.insert(value, at: index)
            case (true, .remove, _) where index < elements.count: elements.remove(at: index)
            case (true, .replace, let value?) where index < elements.count: elements[index] = value
            case (false, _, _) where index < elements.count:
                guard let inner = elements[index].naivelyPatched(operation, names.dropFirst())
                else { return nil }
                elements[index] = inner
            default: return nil
            }
            return .array(elements)
        default: return nil
        }
    }

    fileprivate func with(_ name: ExactString, _ value: JSON) -> JSON {
        guard case .object(var object) = self else { return self }
        object[name] = value
        return .object(object)
    }
}
