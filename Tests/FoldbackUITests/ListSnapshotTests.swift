import Foldback
import FoldbackUI
import Synchronization
import Testing

/// Tests from an article about loading lists (003). There, ten equal placeholders crashed the list,
/// an item had to be `Hashable` as a whole, and each placeholder got another id each time.
@Suite struct ListSnapshotTests {
    // MARK: Ids

    @Test func `U19: a repeated item is an error that names both places`() {
        #expect(throws: duplicate("b", (0, 1), (0, 2))) { try list("A a b b") }
        #expect(throws: duplicate("a", (0, 0), (2, 1))) { try list("A a | B | C c a") }
        #expect(throws: duplicate("a", (0, 0), (1, 0))) { try list("A a | B ?a") }
        #expect(throws: duplicate("a", (0, 0), (0, 1))) { try list("A a !a*1") }
        // Of several duplicates, the first second row is named.
        #expect(throws: duplicate("b", (0, 1), (0, 2))) { try list("A a b b a") }
        // Placeholders at the start shift the places.
        #expect(throws: duplicate("a", (0, 2), (0, 3))) { try list("A a a -2") }
    }

    @Test func `U19: a repeated section is an error that names both sections`() {
        #expect(throws: ListError.duplicateSection("A", first: 0, second: 2)) {
            try list("A | B | A")
        }
    }

    @Test func `U19: an item and a placeholder never have the same id`() throws {
        let list = try ListSnapshot<Int, Numbered> { list in
            list.section(0)
            list.items([Numbered(id: 0)])
            list.placeholders(count: 1)
        }
        #expect(list.sections[0].rows.map(\.id) == [.item(0), .placeholder(0, .end, slot: 0)])
    }

    /// Foldback's own rule of #63: `Numbered` and `Note` are not `Hashable`.
    @Test func `U19: building a list hashes each id once`() throws {
        let counter = IDCounter()
        let items = (0..<1_000).map { Counted(id: CountedID(value: $0, counter: counter)) }
        let list = try ListSnapshot<Int, Counted> { list in
            list.section(0)
            list.items(items)
        }
        #expect(counter.hashes == 1_000)
        #expect(list.rowCount == 1_000)
    }

    @Test func `#61: a list's type can have a short name`() throws {
        typealias Snapshot = ListSnapshot<Feed.Section, Feed.Post>
        let list = try Snapshot { list in
            list.section(.posts)
            list.items([Feed.Post(id: .local(1)), Feed.Post(id: .server("x"))])
        }
        #expect(list.rowCount == 2)
    }

    @Test func `#62: enums serve as ids of sections and items`() throws {
        let list = try ListSnapshot<Feed.Section, Feed.Post> { list in
            list.section(.pinned(by: "mia"))
            list.items([Feed.Post(id: .local(1))])
            list.section(.posts)
            list.items([Feed.Post(id: .server("1"))])
        }
        #expect(list.sections.map(\.id) == [.pinned(by: "mia"), .posts])
        #expect(list.place(ofItem: .server("1")) == RowPlace(section: 1, row: 0))
        #expect(list.index(ofSection: .posts) == 1)
    }

    // MARK: Placeholders

    @Test(arguments: [0, 1, 8, 10])
    func `#67: placeholders of one call are as many as asked, and distinct`(count: Int) throws {
        for edge in ListEdge.allCases {
            let list = try NoteList { list in
                list.section("A")
                list.placeholders(count: count, at: edge)
            }
            #expect(list.rowCount == count)
            #expect(Set(list.sections[0].rows.map(\.id)).count == count)
            #expect(list.isBusy == (count > 0))
        }
    }

    @Test func `#68: each state of remote data makes a list`() throws {
        typealias Notes = RemoteData<[Note], RequestError>
        let notes = [Note(id: "a"), Note(id: "b")]
        let states: [(Notes, String)] = [
            (.notAsked, "A +3"), (.loading, "A +3"), (.failure("offline"), "A"),
            (.success([]), "A"), (.success(notes), "A a b"),
        ]
        for (data, expected) in states {
            #expect(try data.list(in: "A", placeholders: 3) == list(expected))
            #expect(try data.list(in: "A", placeholders: 0).isBusy == false)
        }
        #expect(try NoteList.placeholders(count: 3, in: "A") == list("A +3"))
        #expect(throws: duplicate("a", (0, 0), (0, 1))) {
            try Notes.success([notes[0], notes[0]]).list(in: "A", placeholders: 3)
        }
    }

    @Test func `U20: slots of placeholders count outward from the content`() throws {
        let rows = try list("A -2 a +2").sections[0].rows
        #expect(
            rows.map(\.id) == [
                .placeholder("A", .start, slot: 1), .placeholder("A", .start, slot: 0),
                .item("a"),
                .placeholder("A", .end, slot: 0), .placeholder("A", .end, slot: 1),
            ])
        #expect(rows.map { $0.content == nil } == [true, true, false, true, true])
    }

    @Test func `U20: placeholders are at the edges, whenever they are added`() throws {
        #expect(try list("A +1 a -2 b +1") == list("A -2 a b +2"))
    }

    @Test func `U20: placeholders have the same ids in each list`() throws {
        #expect(try edits(from: "A -1 a +8", to: "A -1 a +8") == [])
        #expect(
            try edits(from: "A -1 +2", to: "A -2 a +1").filter { $0.contains("A start 0") } == [])
    }

    @Test func `U20: an item whose id is known before its content has a row`() throws {
        let posts = ["b": Note(id: "b", text: "loaded")]
        let list = try NoteList { list in
            list.section("A")
            list.known(ids: ["a", "b"], content: { posts[$0] }, status: { _ in .settled })
        }
        #expect(list.sections[0].rows.map(\.id) == [.item("a"), .item("b")])
        #expect(list.sections[0].rows.map(\.content) == [nil, posts["b"]])
        #expect(list.isBusy)
        #expect(
            try !NoteList {
                $0.section("A"); $0.known(ids: ["b"]) { posts[$0] }
            }.isBusy)
    }

    // MARK: Rows

    @Test func `a row has the status of its item, and only a ghost is a ghost`() throws {
        let marked = ItemStatus(marks: [IntentMark(number: 3, state: .pending)])
        let list = try NoteList { list in
            list.section("A")
            list.items(
                ["a", "b"].map { Note(id: $0) }, status: { $0.id == "b" ? marked : .settled })
            list.ghost(Note(id: "c"), status: marked)
            list.known(ids: ["d"], status: { _ in marked })
        }
        #expect(list.sections[0].rows.map(\.status) == [.settled, marked, marked, marked])
        #expect(list.sections[0].rows.map(\.isGhost) == [false, false, true, false])
    }

    @Test func `each row is found at its place`() throws {
        let list = try list("A -1 a b +1 | B | C c +1")
        for (section, index) in zip(list.sections, 0...) {
            #expect(list.index(ofSection: section.id) == index)
            for (row, place) in zip(section.rows, 0...) {
                let place = RowPlace(section: index, row: place)
                #expect(list.place(of: row.id) == place)
                #expect(list[place] == row)
            }
        }
        #expect(list.rowCount == 6)
        #expect(list.place(ofItem: "b") == RowPlace(section: 0, row: 2))
        #expect(list.place(ofItem: "z") == nil)
        #expect(list.place(of: .placeholder("B", .end, slot: 0)) == nil)
        #expect(list.index(ofSection: "Z") == nil)
    }

    @Test func `lists are equal if all sections and rows are equal`() throws {
        let sample = try list("A a=1 b*1 | B +1")
        #expect(try sample == list("A a=1 b*1 | B +1"))
        let others = [
            "A a=2 b*1 | B +1", "A a=1 b*2 | B +1", "A a=1 b*1 | B -1", "A a=1 b*1 | B",
            "A b*1 a=1 | B +1", "A a=1 b*1 | C +1", "A a=1 b*1", "A ?a b*1 | B +1",
            "B +1 | A a=1 b*1",
        ]
        for other in others { #expect(try sample != list(other)) }
        #expect(NoteList() == NoteList())
        #expect(try NoteList { _ in } == NoteList())
        #expect(NoteList().rowCount == 0)
    }

    @Test func `comparing copies of a list looks at no row`() throws {
        let counter = IDCounter()
        let list = try ListSnapshot<Int, Counted> { list in
            list.section(0)
            list.items([Counted(id: CountedID(value: 0, counter: counter))])
        }
        let (copy, before) = (list, counter.comparisons)
        #expect(copy == list)
        #expect(copy.difference(from: list).isEmpty)
        #expect(counter.comparisons == before)
    }

    @Test func `a closure's own error ends the building`() {
        #expect(throws: ListError.duplicateItem("z", first: place(0, 0), second: place(0, 1))) {
            try NoteList { list throws(ListError) in
                list.section("A")
                list.items(try FoldbackUITests.list("A z z").sections[0].rows.compactMap(\.content))
            }
        }
    }
}

private func place(_ section: Int, _ row: Int) -> RowPlace { RowPlace(section: section, row: row) }

private func duplicate(_ id: String, _ first: (Int, Int), _ second: (Int, Int)) -> ListError {
    .duplicateItem(
        id, first: place(first.0, first.1), second: place(second.0, second.1))
}

private struct Numbered: Identifiable, Equatable, Sendable { let id: Int }

private enum Feed {
    enum Section: Hashable { case pinned(by: String), posts }
    enum PostID: Hashable { case local(Int), server(String) }
    struct Post: Identifiable, Equatable { let id: PostID }
}

/// Counts how often ids are hashed and compared.
final class IDCounter: Sendable {
    private let counts = Mutex((hashes: 0, comparisons: 0))
    var hashes: Int { counts.withLock { $0.hashes } }
    var comparisons: Int { counts.withLock { $0.comparisons } }
    func hash() { counts.withLock { $0.hashes += 1 } }
    func compare() { counts.withLock { $0.comparisons += 1 } }
}

struct CountedID: Hashable, Sendable {
    let value: Int
    let counter: IDCounter

    static func == (first: CountedID, second: CountedID) -> Bool {
        first.counter.compare()
        return first.value == second.value
    }

    func hash(into hasher: inout Hasher) {
        counter.hash()
        hasher.combine(value)
    }
}

struct Counted: Identifiable, Equatable, Sendable {
    let id: CountedID
    var text = ""
}
