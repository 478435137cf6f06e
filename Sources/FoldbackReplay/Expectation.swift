#if ReplayTool
    import ArgumentParser
    import Foldback

    /// A place of the state compared with a literal, like `/post/likes >= 0`.
    ///
    /// What is absent is unequal to every literal but null, and is in the right order with each.
    struct Expectation: Sendable, CustomStringConvertible {
        enum Comparison: String, CaseIterable {
            case equal = "=="
            case unequal = "!="
            case atMost = "<="
            case atLeast = ">="
            case less = "<"
            case more = ">"
        }

        let place: JSONPointer
        let comparison: Comparison
        let literal: JSON

        var description: String { "\(place) \(comparison.rawValue) \(literal)" }

        init(_ text: String) throws {
            for comparison in Comparison.allCases {
                guard let range = text.firstRange(of: " \(comparison.rawValue) ") else { continue }
                place = try JSONPointer(argument: String(text[..<range.lowerBound]))
                self.comparison = comparison
                do { literal = try JSON(parsing: String(text[range.upperBound...])) } catch {
                    throw ValidationError("what \(text) compares with is no JSON: \(error)")
                }
                return
            }
            throw ValidationError("\(text) is no comparison; write '/post/likes >= 0'")
        }

        func holds(_ found: JSON?) -> Bool {
            switch comparison {
            case .equal: (found ?? .null) == literal
            case .unequal: (found ?? .null) != literal
            case .less: holds(found) { $0 < 0 }
            case .atMost: holds(found) { $0 <= 0 }
            case .more: holds(found) { $0 > 0 }
            case .atLeast: holds(found) { $0 >= 0 }
            }
        }

        /// - Parameter isRight: of -1, 0 or 1 for less, equal or more. What cannot be compared is not.
        private func holds(_ found: JSON?, _ isRight: (Int) -> Bool) -> Bool {
            guard let found else { return true }
            if case .string(let a) = found, case .string(let b) = literal {
                return isRight(a < b ? -1 : a == b ? 0 : 1)
            }
            guard let a = found.number, let b = literal.number else { return false }
            return isRight(a < b ? -1 : a == b ? 0 : 1)
        }
    }

    extension JSON {
        fileprivate var number: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .double(let value): value
            case .digits(let digits): Double(digits)
            case .null, .bool, .string, .array, .object: nil
            }
        }
    }
#endif
