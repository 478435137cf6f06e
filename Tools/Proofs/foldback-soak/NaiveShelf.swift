/// The shelves as plain dictionaries, written without Foldback.
struct NaiveShelf: Equatable {
    /// Without zeros.
    private(set) var counts: [Int: Int] = [:]
    /// Without empty labels.
    private(set) var labels: [Int: String] = [:]

    init() {}

    init(_ items: some Sequence<(key: Int, value: Item)>) {
        for (number, item) in items {
            if item.count != 0 { counts[number] = item.count }
            if !item.label.isEmpty { labels[number] = item.label }
        }
    }

    /// Applies an event. Returns false if it does not apply; then nothing has changed.
    @discardableResult
    mutating func take(_ event: ShelfEvent) -> Bool {
        switch event {
        case .put(let item, let count): counts[item, default: 0] += count
        case .taken(let item, let count):
            let left = (counts[item] ?? 0) - count
            if left < 0 { return false }
            counts[item] = left == 0 ? nil : left
        case .labeled(let item, let text): labels[item] = text.isEmpty ? nil : text
        }
        return true
    }

    /// Returns what differs first in the other shelf, in words; nil if nothing does.
    func difference(from other: NaiveShelf) -> String? {
        if self == other { return nil }
        let items = Set(counts.keys).union(other.counts.keys).union(labels.keys)
            .union(other.labels.keys)
        for item in items.sorted() {
            if counts[item] != other.counts[item] {
                return "there are \(counts[item] ?? 0) of item \(item), "
                    + "and the model has \(other.counts[item] ?? 0)"
            }
            if labels[item] != other.labels[item] {
                return "item \(item) has the label \"\(labels[item] ?? "")\", "
                    + "and in the model it has \"\(other.labels[item] ?? "")\""
            }
        }
        return nil
    }
}
