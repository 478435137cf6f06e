import FoldbackUI

/// A window of an array that is read as a whole.
struct NaiveWindow<Element: Equatable> {
    private let pageSize: Int
    private let windowMax: Int
    let precedes: (Element, Element) -> Bool
    private(set) var rows: [Element] = []
    /// The nearest rows outside of the window when it was made; nil if it reaches the range's end.
    private(set) var start: Element?
    private(set) var end: Element?
    private var dropsAtEnd = true

    init(
        pageSize: Int, windowMax: Int, _ precedes: @escaping (Element, Element) -> Bool
    ) {
        self.pageSize = pageSize
        self.windowMax = windowMax
        self.precedes = precedes
    }

    mutating func update(_ all: [Element]) {
        let before = all.filter { !isAfterStart($0) }
        let after = all.filter { !isBeforeEnd($0) }
        rows = all.filter { isAfterStart($0) && isBeforeEnd($0) }
        if before.isEmpty { start = nil }
        if after.isEmpty { end = nil }
        trim()
    }

    mutating func extend(_ edge: ListEdge, _ all: [Element], isFirst: Bool = false) {
        if isFirst {
            rows = Array(all.prefix(pageSize))
            end = all.dropFirst(pageSize).first
            return
        }
        switch edge {
        case .start:
            let before = all.filter { !isAfterStart($0) }
            rows = before.suffix(pageSize) + rows
            start = before.dropLast(pageSize).last
        case .end:
            let after = all.filter { !isBeforeEnd($0) }
            rows += after.prefix(pageSize)
            end = after.dropFirst(pageSize).first
        }
        dropsAtEnd = edge == .start
        trim()
    }

    /// Whether both windows are the same, now and after any changes.
    func isEqual(to other: NaiveWindow) -> Bool {
        rows == other.rows && start == other.start && end == other.end
            && dropsAtEnd == other.dropsAtEnd
    }

    private mutating func trim() {
        while rows.count > windowMax {
            if dropsAtEnd { end = rows.removeLast() } else { start = rows.removeFirst() }
        }
    }

    private func isAfterStart(_ row: Element) -> Bool { start.map { precedes($0, row) } ?? true }
    private func isBeforeEnd(_ row: Element) -> Bool { end.map { precedes(row, $0) } ?? true }
}
