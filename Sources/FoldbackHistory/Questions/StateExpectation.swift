import Foldback

/// What has to hold of states: a place of them compared with a JSON literal, like `/post/likes >= 0`.
///
/// ```swift
/// let expectation = try StateExpectation("/post/likes >= 0")
/// for snapshot in history.snapshots(of: Documents.self) {
///     #expect(expectation.holds(of: snapshot.view), "behind entry \(snapshot.sequence)")
/// }
/// ```
///
/// Numbers are compared by value, whatever their size and however they are written (1 equals 1.0), texts by their
/// bytes. For `==` and `!=` what is absent is null. For `<`, `<=`, `>` and `>=` what is absent is in order with
/// everything, and what has no order with the literal is not as expected.
public struct StateExpectation: Hashable, Sendable, CustomStringConvertible {
    private enum Comparison: String, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case atMost = "<="
        case atLeast = ">="
        case less = "<"
        case more = ">"
    }

    let place: JSONPointer
    private let comparison: Comparison
    private let literal: JSON

    /// The text that makes it.
    public var description: String { "\(place) \(comparison.rawValue) \(literal)" }

    /// - Parameter text: a place as RFC 6901 has it, one of `== != < <= > >=` between spaces, a JSON value. The
    ///   first operator ends the place.
    /// - Throws: where the text is none.
    public init(_ text: String) throws(StateExpectationError) {
        let operators = Comparison.allCases.compactMap { comparison in
            text.firstRange(of: " \(comparison.rawValue) ").map { (comparison, $0) }
        }
        guard let (comparison, range) = operators.min(by: { $0.1.lowerBound < $1.1.lowerBound })
        else { throw StateExpectationError("\(text) is no comparison; write '/post/likes >= 0'") }
        let name = String(text[..<range.lowerBound])
        guard let place = JSONPointer(name) else {
            throw StateExpectationError("\(name) is no place; write /name/name, as RFC 6901 has it")
        }
        self.place = place
        self.comparison = comparison
        do { literal = try JSON(parsing: String(text[range.upperBound...])) } catch {
            throw StateExpectationError("what \(text) compares with is no JSON: \(error)")
        }
    }

    /// - Complexity: as to show what is at the place as JSON; see ``JSON/init(describing:)``.
    public func holds(of state: some Projection) -> Bool { holds(of: state.shown(at: place)) }

    private func holds(of found: JSON?) -> Bool {
        switch comparison {
        case .equal: (found ?? .null).isSame(as: literal)
        case .unequal: !(found ?? .null).isSame(as: literal)
        case .less: isInOrder(found) { $0 < 0 }
        case .atMost: isInOrder(found) { $0 <= 0 }
        case .more: isInOrder(found) { $0 > 0 }
        case .atLeast: isInOrder(found) { $0 >= 0 }
        }
    }

    private func isInOrder(_ found: JSON?, _ isRight: (Int) -> Bool) -> Bool {
        guard let found else { return true }
        return found.order(to: literal).map(isRight) ?? false
    }
}

/// Why a text is no ``StateExpectation``.
public struct StateExpectationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension JSON {
    /// Equal, with numbers by value, also within.
    fileprivate func isSame(as other: JSON) -> Bool {
        switch (self, other) {
        case (.array(let a), .array(let b)):
            a.elementsEqual(b) { $0.isSame(as: $1) }
        case (.object(let a), .object(let b)):
            a.members.elementsEqual(b.members) {
                $0.name == $1.name && $0.value.isSame(as: $1.value)
            }
        default: order(to: other).map { $0 == 0 } ?? (self == other)
        }
    }

    /// -1, 0 or 1 for less, equal or more; nil where neither of two has to come first.
    fileprivate func order(to other: JSON) -> Int? {
        switch (self, other) {
        case (.string(let a), .string(let b)): Self.order(a, b)
        case (.integer(let a), .integer(let b)): Self.order(a, b)
        case (.double(let a), .double(let b)): Self.order(a, b)
        case (.integer(let a), .double(let b)): Self.order(a, b)
        case (.double(let a), .integer(let b)): -Self.order(b, a)
        case (.digits(let a), .digits(let b)): Self.order(digits: a, b)
        // Of more than 64 bits: its sign says it all.
        case (.digits(let a), .integer): a.hasPrefix("-") ? -1 : 1
        case (.integer, .digits(let b)): b.hasPrefix("-") ? 1 : -1
        // A double of that size is a whole number, but one that stands for many.
        case (.digits(let a), .double(let b)): Double(a).map { Self.order($0, b) }
        case (.double(let a), .digits(let b)): Double(b).map { Self.order(a, $0) }
        default: nil
        }
    }

    private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int {
        a < b ? -1 : a == b ? 0 : 1
    }

    /// Exactly: a double has no place for every whole number of 64 bits.
    private static func order(_ a: Int64, _ b: Double) -> Int {
        guard let whole = Int64(exactly: b.rounded(.down)) else { return b < 0 ? 1 : -1 }
        return a == whole ? order(b.rounded(.down), b) : order(a, whole)
    }

    private static func order(digits a: String, _ b: String) -> Int {
        switch (a.hasPrefix("-"), b.hasPrefix("-")) {
        case (true, false): -1
        case (false, true): 1
        case (false, false): a.count == b.count ? order(a, b) : order(a.count, b.count)
        case (true, true): a.count == b.count ? order(b, a) : order(b.count, a.count)
        }
    }
}
