import Foldback

/// A change of what a household has on its shelves.
enum ShelfEvent: Hashable, Sendable {
    case put(item: Int, count: Int)
    /// Applies only if as many are there.
    case taken(item: Int, count: Int)
    case labeled(item: Int, text: String)

    var item: Int {
        switch self {
        case .put(let item, _), .taken(let item, _), .labeled(let item, _): item
        }
    }
}

/// How many there are of a thing, and what is written on its box.
struct Item: Codable, Hashable, Sendable {
    var count = 0
    var label = ""

    mutating func apply(_ event: ShelfEvent) throws(ShelfError) {
        switch event {
        case .put(_, let added): count += added
        case .taken(_, let removed):
            guard removed <= count else { throw .tooFew }
            count -= removed
        case .labeled(_, let text): label = text
        }
    }
}

enum ShelfError: Error { case tooFew }

/// The shelves as one value: what the app was first released with.
struct Shelf: Projection, Codable, Hashable {
    private(set) var items: [Int: Item] = [:]

    static var codec: any EventCodec<ShelfEvent> { ShelfCodec.events }

    static func keys(touchedBy event: ShelfEvent, _ context: EventContext) -> [Int] {
        [event.item]
    }

    mutating func apply(_ event: ShelfEvent, _ context: EventContext) throws(ShelfError) {
        var item = items[event.item] ?? Item()
        try item.apply(event)
        items[event.item] = item
    }
}

/// The shelves as rows with an index: an update of the app adds them.
struct ShelfRows: StoredProjection {
    static let items = RowTable("items", key: Int.self, codec: ItemCodec())
    /// The items that are on the shelf at least once.
    static let byCount = items.index("by count") { _, item in
        item.count == 0 ? nil : item.count
    }
    static let schema = RowSchema(items, byCount)
    static var codec: any EventCodec<ShelfEvent> { ShelfCodec.events }

    static func apply(
        _ event: ShelfEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        try rows.update(event.item, in: items, default: Item()) { try $0.apply(event) }
    }
}

/// The number of labels that were written: a projection that no version of the app has, and that a
/// compacted log cannot make.
struct LabelCount: Projection, Codable, Hashable {
    private(set) var count = 0

    static var codec: any EventCodec<ShelfEvent> { ShelfCodec.events }

    mutating func apply(_ event: ShelfEvent, _ context: EventContext) {
        if case .labeled = event { count += 1 }
    }
}

/// Codecs of a few bytes: with JSON, most of the time of ten years would be JSON's.
struct ShelfCodec: ByteCodec {
    static let events = PackedCodec(ShelfCodec(), as: EventFormat(codec: 128, version: 1))

    func encode(_ event: ShelfEvent, into output: inout OutputBuffer) {
        switch event {
        case .put(let item, let count): append(0, item, count, &output)
        case .taken(let item, let count): append(1, item, count, &output)
        case .labeled(let item, let text):
            append(2, item, 0, &output)
            output.append(text)
        }
    }

    private func append(_ kind: UInt8, _ item: Int, _ count: Int, _ output: inout OutputBuffer) {
        output.append(kind)
        output.append(Int32(item))
        output.append(Int32(count))
    }

    func decode(_ bytes: RawSpan) throws -> ShelfEvent {
        var cursor = InputCursor()
        let kind: UInt8 = try cursor.number(in: bytes)
        let item = Int(try cursor.number(Int32.self, in: bytes))
        let count = Int(try cursor.number(Int32.self, in: bytes))
        let event: ShelfEvent =
            switch kind {
            case 0: .put(item: item, count: count)
            case 1: .taken(item: item, count: count)
            default: .labeled(item: item, text: try cursor.text(in: bytes))
            }
        try cursor.requireEnd(of: bytes)
        return event
    }
}

struct ItemCodec: ByteCodec {
    func encode(_ item: Item, into output: inout OutputBuffer) {
        output.append(Int32(item.count))
        output.append(item.label)
    }

    func decode(_ bytes: RawSpan) throws -> Item {
        var cursor = InputCursor()
        return Item(
            count: Int(try cursor.number(Int32.self, in: bytes)),
            label: try cursor.text(in: bytes))
    }
}
