import Foldback

/// A condition that every state must meet: the value at a place, compared with a JSON literal, such
/// as `/post/likes >= 0`.
///
/// ```swift
/// let expectation = try StateExpectation("/post/likes >= 0")
/// for snapshot in history.snapshots(of: Documents.self) {
///     #expect(expectation.holds(of: snapshot.view), "after entry \(snapshot.sequence)")
/// }
/// ```
///
/// Numbers are compared by value, whatever their size and notation (1 equals 1.0), and strings by
/// their bytes. For `==` and `!=` an absent value is null. For `<`, `<=`, `>` and `>=` an absent
/// value meets the expectation, and a value that has no order with the literal does not.
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

    /// The text that ``init(_:)`` takes.
    public var description: String { "\(place) \(comparison.rawValue) \(literal)" }

    /// Parses an expectation.
    ///
    /// - Parameter text: a place in the syntax of RFC 6901, one of `== != < <= > >=` between
    ///   spaces, and a JSON value. The first operator ends the place.
    /// - Throws: if the text is not an expectation.
    public init(_ text: String) throws(StateExpectationError) {
        let operators = Comparison.allCases.compactMap { comparison in
            text.firstRange(of: " \(comparison.rawValue) ").map { (comparison, $0) }
        }
        guard let (comparison, range) = operators.min(by: { $0.1.lowerBound < $1.1.lowerBound })
        else {
            throw StateExpectationError("\(text) is not a comparison; write '/post/likes >= 0'")
        }
        let name = String(text[..<range.lowerBound])
        guard let place = JSONPointer(name) else {
            throw StateExpectationError("\(name) is not a place; write /name/name (RFC 6901)")
        }
        self.place = place
        self.comparison = comparison
        do { literal = try JSON(parsing: String(text[range.upperBound...])) } catch {
            throw StateExpectationError("the right side of \(text) is not JSON: \(error)")
        }
    }

    /// Returns whether a state meets the expectation.
    ///
    /// - Complexity: that of making JSON of the value at the place; see
    ///   ``/Foldback/JSON/init(describing:)``.
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

/// Why a text is not a ``StateExpectation``.
public struct StateExpectationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension JSON {
    /// Returns whether two values are equal. Numbers are compared by value, also in arrays and
    /// objects.
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

    /// Returns -1, 0 or 1 for less, equal or more; nil if the two values have no order.
    fileprivate func order(to other: JSON) -> Int? {
        switch (self, other) {
        case (.string(let a), .string(let b)): Self.order(a, b)
        case (.integer(let a), .integer(let b)): Self.order(a, b)
        case (.double(let a), .double(let b)): Self.order(a, b)
        case (.integer(let a), .double(let b)): Self.order(a, b)
        case (.double(let a), .integer(let b)): -Self.order(b, a)
        case (.digits(let a), .digits(let b)): Self.order(digits: a, b)
        // `.digits` needs more than 64 bits, so its sign decides.
        case (.digits(let a), .integer): a.hasPrefix("-") ? -1 : 1
        case (.integer, .digits(let b)): b.hasPrefix("-") ? 1 : -1
        // A double of this size stands for many whole numbers, so `a` is rounded to a double too.
        case (.digits(let a), .double(let b)): Double(a).map { Self.order($0, b) }
        case (.double(let a), .digits(let b)): Double(b).map { Self.order(a, $0) }
        default: nil
        }
    }

    private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int {
        a < b ? -1 : a == b ? 0 : 1
    }

    /// Compares exactly: a double cannot represent every whole number of 64 bits.
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
