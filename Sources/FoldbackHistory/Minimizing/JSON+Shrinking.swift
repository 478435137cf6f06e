import Foldback

extension JSON {
    /// Returns true if the search may continue from a value, because the value still fails.
    typealias Judge = nonisolated(nonsending) (JSON) async throws -> Bool

    /// Returns the smallest value that this search finds and that `adopts` accepts.
    ///
    /// The search removes members, elements and characters, and moves numbers toward 0. No single
    /// step makes the result smaller.
    ///
    /// - Complexity: about 4 log2(n) attempts for each part that stays. Each attempt copies the
    ///   parts around that part.
    nonisolated(nonsending) func shrunk(_ adopts: Judge) async throws -> JSON {
        switch self {
        case .null, .bool: return self
        case .integer(let value):
            return .integer(try await Self.shrunk(value) { try await adopts(.integer($0)) })
        case .double(let value):
            if try await adopts(.double(0)) { return .double(0) }
            guard let whole = Int64(exactly: value.rounded(.towardZero)) else { return self }
            if Double(whole) != value, try await !adopts(.double(Double(whole))) { return self }
            let lowered = try await Self.shrunk(whole) { try await adopts(.double(Double($0))) }
            return .double(Double(lowered))
        case .digits(let digits):
            let nearest: Int64 = digits.hasPrefix("-") ? .min : .max
            guard try await adopts(.integer(nearest)) else { return self }
            return try await JSON.integer(nearest).shrunk(adopts)
        case .string(let text):
            let scalars = try await Self.shortened(Array(text.string.unicodeScalars)) {
                try await adopts(.string(String(String.UnicodeScalarView($0))))
            }
            return .string(String(String.UnicodeScalarView(scalars)))
        case .array(let elements): return try await Self.shrunk(elements, adopts)
        case .object(let object): return try await Self.shrunk(object.members, adopts)
        }
    }

    private nonisolated(nonsending) static func shrunk(
        _ elements: [JSON], _ adopts: Judge
    ) async throws -> JSON {
        var elements = try await shortened(elements) { try await adopts(.array($0)) }
        for index in elements.indices.reversed() {
            let others = elements
            elements[index] = try await others[index].shrunk {
                var elements = others
                elements[index] = $0
                return try await adopts(.array(elements))
            }
        }
        return .array(elements)
    }

    private nonisolated(nonsending) static func shrunk(
        _ members: [(name: ExactString, value: JSON)], _ adopts: Judge
    ) async throws -> JSON {
        let kept = try await shortened(members) { try await adopts(.object(Object(ordered: $0))) }
        var object = Object(ordered: kept)
        for (name, value) in kept.reversed() {
            let others = object
            object[name] = try await value.shrunk {
                var object = others
                object[name] = $0
                return try await adopts(.object(object))
            }
        }
        return .object(object)
    }

    /// Returns an adopted number with the same sign, as near to 0 as repeated halving finds.
    private nonisolated(nonsending) static func shrunk(
        _ value: Int64, _ adopts: nonisolated(nonsending) (Int64) async throws -> Bool
    ) async throws -> Int64 {
        if value == 0 { return 0 }
        if try await adopts(0) { return 0 }
        var lowest = value
        var step = value / 2
        while step != 0 {
            if try await adopts(lowest - step) {
                lowest -= step
                step = lowest / 2
            } else {
                step /= 2
            }
        }
        return lowest
    }

    private nonisolated(nonsending) static func shortened<Element>(
        _ list: [Element], _ adopts: nonisolated(nonsending) ([Element]) async throws -> Bool
    ) async throws -> [Element] {
        var list = list
        var chunks = Chunks(of: list.count)
        while let chunk = chunks.next() {
            var shorter = list
            shorter.removeSubrange(chunk)
            guard try await adopts(shorter) else { continue }
            list = shorter
            chunks.removed(leaving: list.count)
        }
        return list
    }
}

extension JSON.Object {
    /// Creates an object from some members of another object.
    ///
    /// - Parameter members: in the order of the other object.
    fileprivate init(ordered members: [(name: ExactString, value: JSON)]) {
        self.init()
        for (name, value) in members { self[name] = value }
    }
}
