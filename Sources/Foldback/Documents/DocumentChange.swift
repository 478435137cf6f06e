extension DocumentEvent.Change {
    /// Whether the changed document depends on the document before.
    var readsDocument: Bool {
        switch self {
        case .set, .delete: false
        case .merge, .increment: true
        }
    }

    /// Returns the document at `key` after the change, or nil if it is absent then.
    ///
    /// - Parameter document: the document before; nil if it is absent.
    /// - Throws: ``DocumentConflict`` if the change does not apply.
    func made(
        of document: JSON?, at key: ExactString, _ require: DocumentEvent.Require?
    ) throws(DocumentConflict) -> JSON? {
        try Self.check(require, at: key, isPresent: document != nil)
        switch self {
        case .set(let value): return value
        case .merge(let patch): return (document ?? [:]).merged(with: patch)
        case .delete: return nil
        case .increment(let field, let amount):
            guard let document else { throw .isAbsent(key) }
            guard case .object(var object) = document else { throw .isNotObject(key) }
            object[field] = try Self.sum(object[field] ?? 0, amount, at: key, field)
            return .object(object)
        }
    }

    /// Throws if the document is present and should not be, or if it is absent and should not be.
    static func check(
        _ require: DocumentEvent.Require?, at key: ExactString, isPresent: Bool
    ) throws(DocumentConflict) {
        switch require {
        case nil: break
        case .present: guard isPresent else { throw .isAbsent(key) }
        case .absent: guard !isPresent else { throw .isPresent(key) }
        }
    }

    /// Returns the new value of a field that is incremented.
    static func sum(
        _ value: JSON, _ amount: JSON, at key: ExactString, _ field: ExactString
    ) throws(DocumentConflict) -> JSON {
        guard let sum = value.sum(with: amount) else { throw .isNotNumber(key, field: field) }
        guard let inRange = sum else { throw .overflow(key, field: field) }
        return inRange
    }
}

/// The reason why an event does not apply to the present documents.
public enum DocumentConflict: Error, Hashable, Sendable, CustomStringConvertible {
    case isAbsent(ExactString)
    case isPresent(ExactString)
    case isNotObject(ExactString)
    case isNotNumber(ExactString, field: ExactString)
    case overflow(ExactString, field: ExactString)

    public var description: String {
        switch self {
        case .isAbsent(let key): "\"\(key)\" is absent"
        case .isPresent(let key): "\"\(key)\" is present"
        case .isNotObject(let key): "\"\(key)\" is not an object"
        case .isNotNumber(let key, let field): "\"\(field)\" of \"\(key)\" is not a number"
        case .overflow(let key, let field):
            "\"\(field)\" of \"\(key)\" would need more than 64 bits"
        }
    }
}

extension JSON {
    /// Returns the sum of two numbers, or nil if one of them is not a number. The inner value is
    /// nil if the sum needs more than 64 bits, sign included, or is not finite.
    fileprivate func sum(with other: JSON) -> JSON?? {
        if let a = whole, let b = other.whole {
            let (sum, overflow) = a.addingReportingOverflow(b)
            return .some(overflow ? nil : Int64(exactly: sum).map(JSON.integer))
        }
        guard let a = number, let b = other.number else { return nil }
        let sum = a + b
        return .some(sum.isFinite ? .double(sum) : nil)
    }

    private var whole: Int128? {
        switch self {
        case .integer(let value): Int128(value)
        case .digits(let digits): Int128(digits)
        case .null, .bool, .double, .string, .array, .object: nil
        }
    }

    private var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .digits(let digits): Double(digits)
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
