import Foldback

/// A small projection. Its events depend on their order, on each other and on their context, and some throw.
public struct Board: Projection, Equatable, Codable {
    public var cells: [String: Int] = [:]

    public init() {}

    public static var codec: any EventCodec<Move> { MoveCodec() }

    public mutating func apply(_ move: Move, _ context: EventContext) throws {
        switch move {
        case .set(let key, let value): cells[key] = value
        case .add(let key, let amount):
            guard let old = cells[key] else { throw MoveConflict(reason: "\(key) is absent") }
            cells[key] = old + amount
        case .claim(let key):
            guard cells[key] == nil else { throw MoveConflict(reason: "\(key) is taken") }
            cells[key] = context.id().utf8.reduce(7) { ($0 &* 31 &+ Int($1)) % 9_973 }
        case .remove(let key): cells[key] = nil
        case .replaceAll(let all): cells = all
        case .sweep(let first, let last):
            var swept = self
            swept.cells[last] = nil
            swept.cells[first] = 0
            let count = swept.removeAll(from: first, through: last)
            if count < 2 { throw MoveConflict(reason: "nothing to sweep") }
            swept.cells[first] = count
            self = swept
        }
    }

    /// Removes cells in the byte order of rows, and returns their count.
    private mutating func removeAll(from first: String, through last: String) -> Int {
        let before = cells.count
        cells = cells.filter { cell in
            let key = ExactString(cell.key)
            return key < ExactString(first) || key > ExactString(last)
        }
        return before - cells.count
    }

    public static func keys(touchedBy move: Move, _ context: EventContext) -> [String] {
        switch move {
        case .set(let key, _), .add(let key, _), .claim(let key), .remove(let key): [key]
        case .replaceAll(let all): Array(all.keys)
        case .sweep(let first, let last): [first, last]
        }
    }
}

extension Board: Undoable {
    /// What the cells held before.
    public func inverse(of move: Move, _ context: EventContext) -> Move? {
        switch move {
        case .set(let key, _), .add(let key, _), .claim(let key), .remove(let key):
            cells[key].map { .set(key, $0) } ?? .remove(key)
        case .replaceAll, .sweep: .replaceAll(cells)
        }
    }
}

/// Breaks its contract: it throws after a change, and for other reasons than ``Board``.
public struct SloppyBoard: Projection, Equatable, Codable {
    public var sum = 0
    public var moves: [String] = []

    public init() {}

    public static var codec: any EventCodec<Move> { MoveCodec() }

    public mutating func apply(_ move: Move, _ context: EventContext) throws {
        moves.append(context.id())
        guard case .set(_, let value) = move else { return }
        sum += value
        guard sum < 40 else { throw MoveConflict(reason: "the sum is \(sum)") }
    }
}

public enum Move: Sendable, Equatable {
    case set(String, Int)
    /// Throws if the cell is absent.
    case add(String, Int)
    /// Throws if the cell exists; its value comes from the context.
    case claim(String)
    case remove(String)
    case replaceAll([String: Int])
    /// Removes the second cell and sets the first cell. Then replaces all cells from the first through the second
    /// by one cell, the first, with their count. Throws if the count is below 2.
    case sweep(String, String)
}

public struct MoveConflict: Error, CustomStringConvertible {
    let reason: String
    public init(reason: String) { self.reason = reason }
    public var description: String { reason }
}

/// Moves as short text, so random tests spend little time on coding.
public struct MoveCodec: EventCodec {
    public let format = EventFormat(codec: 200, version: 3)

    public init() {}

    public func encode(_ move: Move) throws -> [UInt8] {
        let text =
            switch move {
            case .set(let key, let value): "s \(key) \(value)"
            case .add(let key, let amount): "a \(key) \(amount)"
            case .claim(let key): "c \(key)"
            case .remove(let key): "r \(key)"
            case .replaceAll(let all):
                "w "
                    + all.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: " ")
            case .sweep(let first, let last): "x \(first) \(last)"
            }
        return Array(text.utf8)
    }

    public func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
        guard format == self.format else { throw MoveConflict(reason: "unknown \(format)") }
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let words = text.split(separator: " ").map(String.init)
        switch words.first {
        case "s": return .set(words[1], Int(words[2]) ?? 0)
        case "a": return .add(words[1], Int(words[2]) ?? 0)
        case "c": return .claim(words[1])
        case "r": return .remove(words[1])
        case "w":
            var all: [String: Int] = [:]
            for place in stride(from: 1, to: words.count, by: 2) {
                all[words[place]] = Int(words[place + 1])
            }
            return .replaceAll(all)
        case "x": return .sweep(words[1], words[2])
        default: throw MoveConflict(reason: "not a move: \(text)")
        }
    }
}

/// A codec that cannot read values of two digits.
public struct ShortSightedCodec: EventCodec {
    public let format = MoveCodec().format

    public init() {}

    public func encode(_ move: Move) throws -> [UInt8] { try MoveCodec().encode(move) }

    public func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
        let move = try MoveCodec().decode(bytes, format: format)
        if case .set(_, let value) = move, value > 9 {
            throw MoveConflict(reason: "\(value) has two digits")
        }
        return move
    }
}
