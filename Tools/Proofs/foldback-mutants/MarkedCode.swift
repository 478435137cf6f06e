/// The code at a marker.
struct MarkedCode {
    /// The label of a `case` on the marked line, or nothing.
    private let label: Substring
    private let body: Substring

    /// - Parameter code: The marked lines without the marker.
    init(_ code: Substring) {
        let code = code.drop { $0 == " " }
        var end = code.startIndex
        if code.hasPrefix("case "), let colon = code.topLevelIndex(of: ": ") {
            end = code.index(colon, offsetBy: 2)
        }
        label = code[..<end]
        body = code[end...]
    }

    /// Returns the code with a change that a switch turns on; nil if the change does not fit the
    /// code.
    ///
    /// - Parameter isActive: An expression, true if the mutant is active.
    func changed(by change: Change, while isActive: String) -> String? {
        switch change {
        case .skip(let condition): "\(label)if !(\(isActive) && (\(condition))) { \(body) }"
        case .holds:
            withCondition { condition, _ in
                let isBoolean =
                    !condition.contains("let ") && condition.topLevelIndex(of: ",") == nil
                return isBoolean ? "\(isActive) || (\(condition))" : nil
            }
        case .fails(let extra):
            withCondition { condition, isList in
                isList
                    ? "\(condition), !(\(isActive) && (\(extra)))"
                    : "(\(condition)) && !(\(isActive) && (\(extra)))"
            }
        case .returns(let value, let condition):
            "\(label)if \(isActive), \(condition) { return \(value) }\n\(body)"
        case .value(let value, let condition): withValue(value, if: condition, isActive)
        case .nilOperand: withNilOperand(isActive)
        case .before(let code): "\(label)if \(isActive) { \(code) }\n\(body)"
        case .after(let code): "\(label)\(body)\nif \(isActive) { \(code) }"
        case .replace(let old, let new): replacing(old, with: new, isActive)
        }
    }

    // MARK: Conditions

    /// - Parameter change: Returns the new condition for the old one; the second argument is true
    ///   if commas may separate conditions.
    private func withCondition(_ change: (Substring, Bool) -> String?) -> String? {
        let ends: [(keyword: String, end: [String], isList: Bool)] = [
            ("guard ", [" else"], true), ("if ", [" {"], true), ("while ", [" {"], true),
            ("where ", [" {", ":"], false), ("filter { ", [" }"], false),
        ]
        for (keyword, ends, isList) in ends {
            guard let start = body.topLevelIndex(of: keyword) else { continue }
            let rest = body[body.index(start, offsetBy: keyword.count)...]
            guard let end = ends.compactMap({ rest.topLevelIndex(of: $0) }).min() else { continue }
            return change(rest[..<end], isList).map {
                "\(label)\(body[..<rest.startIndex])\($0)\(rest[end...])"
            }
        }
        return nil
    }

    // MARK: Expressions

    private var expression: Substring {
        if body.hasPrefix("return ") { return body.dropFirst("return ".count) }
        if let equals = body.topLevelIndex(of: " = ") {
            return body[body.index(equals, offsetBy: 3)...]
        }
        if body.contains(#/^[a-z ]*(var|func) /#), body.hasSuffix(" }"),
            let brace = body.topLevelIndex(of: " { ")
        {
            return body[body.index(brace, offsetBy: 3)...].dropLast(2)
        }
        let label = body.prefixMatch(of: #/\w+: /#)?.range.upperBound ?? body.startIndex
        let rest = body[label...]
        return rest[..<(rest.topLevelIndex(of: ",") ?? rest.topLevelEnd)]
    }

    private func withValue(
        _ value: some StringProtocol, if condition: String, _ isActive: String
    ) -> String? {
        let expression = expression
        let value = String(value).split(separator: "ORIGINAL", omittingEmptySubsequences: false)
            .joined(separator: "(\(expression))")
        return label + body[..<expression.startIndex]
            + "(\(isActive) && (\(condition)) ? (\(value)) : (\(expression)))"
            + body[expression.endIndex...]
    }

    private func withNilOperand(_ isActive: String) -> String? {
        guard let operation = expression.topLevelIndex(of: " ?? ") else { return nil }
        let other = expression[expression.index(operation, offsetBy: 4)...]
        return withValue(other, if: "true", isActive)
    }

    private func replacing(_ old: String, with new: String, _ isActive: String) -> String? {
        let parts = body.split(separator: old, omittingEmptySubsequences: false)
        guard parts.count == 2, old != new else { return nil }
        return "\(label)\(parts[0])(\(isActive) ? (\(new)) : (\(old)))\(parts[1])"
    }
}

extension Substring {
    /// The first place of `text` outside of brackets and string literals; a bracket that ends
    /// `text` is at the place itself.
    func topLevelIndex(of text: String) -> Index? {
        var depth = 0
        var isInString = false
        for index in indices {
            if depth == 0, !isInString, self[index...].hasPrefix(text) { return index }
            switch self[index] {
            case "\"": isInString.toggle()
            case "(", "[", "{": if !isInString { depth += 1 }
            case ")", "]", "}": if !isInString { depth -= 1 }
            default: continue
            }
            if depth < 0 { return nil }
        }
        return nil
    }

    /// The first closing bracket without an opening one, or the end.
    var topLevelEnd: Index {
        [")", "]", "}"].compactMap { topLevelIndex(of: $0) }.min() ?? endIndex
    }

    /// Whether every bracket that this opens is closed.
    var isClosed: Bool {
        reduce(0) { depth, character in
            switch character {
            case "(", "[", "{": depth + 1
            case ")", "]", "}": depth - 1
            default: depth
            }
        } <= 0
    }
}
