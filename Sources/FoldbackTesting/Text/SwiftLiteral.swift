/// Values as Swift source, if a mirror shows enough.
enum SwiftLiteral {
    /// Nil for structs and classes: a mirror does not show their initializers.
    static func of(_ value: Any) -> String? {
        switch value {
        case let string as String: return quoted(string)
        case let number as any BinaryInteger: return "\(number)"
        case let number as Double: return number.isFinite ? "\(number)" : nil
        case let bool as Bool: return "\(bool)"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        func each(_ children: Mirror.Children) -> [String]? {
            let literals = children.map { child in
                of(child.value).map { literal in
                    let label = child.label.flatMap { $0.first == "." ? nil : $0 }
                    return label.map { "\($0): \(literal)" } ?? literal
                }
            }
            return literals.contains(nil) ? nil : literals.compactMap { $0 }
        }
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { of($0.value) } ?? "nil"
        case .collection, .set:
            let elements = mirror.children.map { of($0.value) }
            guard !elements.contains(nil) else { return nil }
            return "[\(elements.compactMap { $0 }.joined(separator: ", "))]"
        case .enum:
            guard let child = mirror.children.first else {
                // A custom description may differ from the name of the case.
                return value is any CustomStringConvertible ? nil : ".\(value)"
            }
            guard let name = child.label else { return nil }
            let payload = Mirror(reflecting: child.value)
            if payload.displayStyle == .tuple {
                return each(payload.children).map { ".\(name)(\($0.joined(separator: ", ")))" }
            }
            return of(child.value).map { ".\(name)(\($0))" }
        default: return nil
        }
    }

    static func quoted(_ string: String) -> String { "\"\(escaped(string))\"" }

    /// The string with a number for every scalar that is not printable ASCII.
    static func escaped(_ string: String) -> String {
        var text = ""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case " "..."~": text.unicodeScalars.append(scalar)
            default: text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }
}
