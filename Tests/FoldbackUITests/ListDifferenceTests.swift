import Foldback
import FoldbackUI
import Testing

/// Tests of differences between two lists that a person would draw. The laws for any two lists are
/// tested in ``ListDifferencePropertyTests``.
@Suite struct ListDifferenceTests {
    // MARK: Rows and sections

    @Test func `U21: rows are deleted at old places and inserted at new places`() throws {
        #expect(
            try edits(from: "A a b c", to: "A a c d") == ["delete b at 0.1", "insert d at 0.2"])
        #expect(try edits(from: "A a b c", to: "A a b c") == [])
        #expect(try edits(from: "", to: "") == [])
    }

    @Test func `U21: only the rows that must move have a move`() throws {
        #expect(try edits(from: "A a b c d", to: "A d a b c") == ["move d from 0.3 to 0.0"])
        #expect(try edits(from: "A a b c d", to: "A b c d a") == ["move a from 0.0 to 0.3"])
        #expect(
            try edits(from: "A a b c d e", to: "A x e c b")
                == [
                    "delete a at 0.0", "delete d at 0.3", "insert x at 0.0",
                    "move e from 0.4 to 0.1", "move c from 0.2 to 0.2",
                ])
    }

    @Test func `U21: a row that changed its section has one move`() throws {
        #expect(try edits(from: "A a b | B c", to: "A b | B c a") == ["move a from 0.0 to 1.1"])
        #expect(
            try edits(from: "A a", to: "B a")
                == ["delete section A at 0", "insert section B at 0", "move a from 0.0 to 0.0"])
    }

    @Test func `U21: rows that moved with their section have no moves`() throws {
        #expect(
            try edits(from: "A a b | B c | C d", to: "C d | A a b | B c")
                == ["move section C from 2 to 0"])
    }

    @Test func `U21: rows of a deleted section are deleted`() throws {
        #expect(
            try edits(from: "A a | B b c", to: "A a c")
                == ["delete section B at 1", "delete b at 1.0", "move c from 1.1 to 0.1"])
    }

    // MARK: Changes

    @Test func `U22: a change says whether content or status differs`() throws {
        #expect(
            try edits(from: "A a=1 b c=1 d", to: "A a=2 b*1 c=2*1 d")
                == [
                    "change a at 0.0: content", "change b at 0.1: status",
                    "change c at 0.2: content and status",
                ])
    }

    @Test
    func `U22: confirming a correct prediction changes only the status of rows with its mark`()
        throws
    {
        #expect(
            try edits(from: "A a=1 b=2*7 c=3 d*8 e=9*7", to: "A a=1 b=2 c=3 d*8 e=9")
                == ["change b at 0.1: status", "change e at 0.4: status"])
    }

    @Test func `U22: a ghost that becomes a row, and back, is a change of status`() throws {
        #expect(try edits(from: "A !a*1", to: "A a*1") == ["change a at 0.0: status"])
        // The marks of both are equal: only `isGhost` differs.
        let status = ItemStatus(marks: [IntentMark(number: 1, state: .pending)])
        let (ghost, row) = try (
            NoteList {
                $0.section("A"); $0.ghost(Note(id: "a"), status: status)
            }, list("A a*1")
        )
        #expect(edits(of: row.difference(from: ghost)) == ["change a at 0.0: status"])
        #expect(edits(of: ghost.difference(from: row)) == ["change a at 0.0: status"])
    }

    @Test func `U22: a row that moved and changed has a move and a change at its new place`() throws
    {
        #expect(
            try edits(from: "A a b c | B", to: "A b c | B a=2")
                == ["move a from 0.0 to 1.0", "change a at 1.0: content"])
    }

    // MARK: Content that arrives

    @Test func `U20: content of a known id is a change of its row`() throws {
        #expect(
            try edits(from: "A ?a ?b ?c", to: "A a b=2 ?c")
                == ["change a at 0.0: content", "change b at 0.1: content"])
    }

    @Test func `U20: content of unknown ids replaces the placeholders in its slots`() throws {
        #expect(
            try edits(from: "A +3", to: "A a b")
                == [
                    "delete A end 0 at 0.0", "delete A end 1 at 0.1", "delete A end 2 at 0.2",
                    "insert a at 0.0", "insert b at 0.1",
                    "replace 0.0 by 0.0", "replace 0.1 by 0.1",
                ])
    }

    @Test func `U20: a page that arrives at an edge replaces the placeholders at this edge`() throws
    {
        func replaced(_ old: String, _ new: String) throws -> [String] {
            try edits(from: old, to: new).filter { $0.starts(with: "replace") }
        }
        // Outward from c, not from the post x that was added on top.
        #expect(
            try replaced("A c +2", "A x c d e f") == ["replace 0.1 by 0.2", "replace 0.2 by 0.3"])
        #expect(
            try replaced("A -2 c", "A a b c x") == ["replace 0.0 by 0.0", "replace 0.1 by 0.1"])
        #expect(
            try replaced("A -1 c +1", "A b c d") == ["replace 0.0 by 0.0", "replace 0.2 by 0.2"])
        // The placeholder in slot 0 stays: it is the placeholder of the next page.
        #expect(try replaced("A c +2", "A c d e +1") == ["replace 0.2 by 0.2"])
        #expect(try replaced("A +1 | B b", "A | B b c") == [])
        #expect(try replaced("A a +1 | B b", "A | B b a") == [])
        // One row for two placeholders.
        #expect(try replaced("A -1 +1", "A a") == ["replace 0.0 by 0.0"])
        // The upper placeholders become the upper rows.
        #expect(
            try replaced("A -2 +2", "A a b c d")
                == [
                    "replace 0.0 by 0.0", "replace 0.1 by 0.1", "replace 0.2 by 0.2",
                    "replace 0.3 by 0.3",
                ])
        #expect(
            try replaced("A -2 x +1", "A a b c d")
                == ["replace 0.0 by 0.0", "replace 0.1 by 0.1", "replace 0.3 by 0.2"])
    }

    @Test func `U32: the row of a retry replaces the ghost`() throws {
        #expect(
            try edits(from: "A a !b*1 c", to: "A a c d*4/1")
                == ["delete b at 0.1", "insert d at 0.2", "replace 0.1 by 0.2"])
        #expect(
            try edits(from: "A !b*1 | B", to: "A | B d*4/2")
                == ["delete b at 0.0", "insert d at 1.0"])
        // A row is in one pair: the retry's, and not the placeholder's.
        #expect(
            try edits(from: "A !b*1 +1", to: "A d*4/1").filter { $0.starts(with: "replace") }
                == ["replace 0.0 by 0.0"])
        // Two rows retry one ghost.
        #expect(
            try edits(from: "A !b*1", to: "A d*4/1 e*5/1").filter { $0.starts(with: "replace") }
                == ["replace 0.0 by 0.0"])
    }

    // MARK: Applying

    @Test(arguments: [
        ("A a b", "A a", "A a x"), ("A a b", "A b a", "A a c"), ("A a", "A a=2", "A b"),
        ("A a | B b", "B b | A a", "A a"), ("A a b", "A a b c", "A a"),
        ("A a | B b", "A a", "A a | B b c"), ("A a | B b", "A a", "A a"),
        ("A a", "A a | B", "A a | B"),
        ("A a", "A a b", "A a | B b"), ("A a b | B", "A b | B a", "A b | B a"),
        ("A a", "A a b=2", "A b"), ("A | B", "B | A", "B | A"), ("A a b c", "A a b=2 c", "A a"),
        ("A", "A | B | C", "A | D"), ("A a", "A a | B b", ""),
    ])
    func `a difference does not fit another list`(old: String, new: String, other: String) throws {
        let difference = try list(new).difference(from: list(old))
        #expect(try difference.applied(to: list(old)) == list(new))
        let wrong = try list(other)
        do {
            let result = try difference.applied(to: wrong)
            Issue.record("it fits \(other), and leads to \(result)")
        } catch .doesNotFit {
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func `an empty difference fits any list`() throws {
        let empty = NoteList().difference(from: NoteList())
        #expect(try empty.applied(to: list("A a")) == list("A a"))
    }

    @Test func `U21: steps are edits one after another`() throws {
        let difference = try list("B x | A b a=2 c").difference(from: list("A a b d | C c"))
        let place = { RowPlace(section: $0, row: $1) }
        let new = try list("B x | A b a=2 c")
        #expect(
            difference.steps == [
                .deleteRow(.item("d"), at: place(0, 2)),
                .insertSection("B", at: 0),
                .insertRow(new[place(0, 0)], at: place(0, 0)),
                .moveRow(.item("b"), from: place(1, 1), to: place(1, 0)),
                .moveRow(.item("c"), from: place(2, 0), to: place(1, 2)),
                .deleteSection("C", at: 2),
                .changeRow(new[place(1, 1)], at: place(1, 1), .content),
            ])
    }

    // MARK: Cost

    @Test func `comparing lists with equal ids hashes none of them`() throws {
        let counter = IDCounter()
        func list(_ values: some Sequence<Int>, text: String = "") throws
            -> ListSnapshot<Int, Counted>
        {
            try ListSnapshot { list in
                list.section(0)
                list.items(
                    values.map {
                        Counted(id: CountedID(value: $0, counter: counter), text: text)
                    })
            }
        }
        let (old, new) = try (list(0..<1_000), list(0..<1_000, text: "new"))
        let before = counter.hashes
        #expect(new.difference(from: old).changes.count == 1_000)
        #expect(counter.hashes == before)
        // Only rows whose predecessor is another row are looked up.
        let moved = try list([999] + Array(0..<999))
        let built = counter.hashes
        #expect(moved.difference(from: old).moves.count == 1)
        #expect(counter.hashes - built <= 4)
    }
}
