/// The names of the members in JSON values of one type, at all depths.
///
/// The values of a dictionary have one shape, and so have the elements of an array, because their
/// names and their number say nothing about the type.
///
/// `@unchecked Sendable`: a shape changes only while its owner alone has it, or holds its lock.
/// ``MemberTree`` is a copy that does not change, for scans.
final class MemberShape: @unchecked Sendable {
    private(set) var members: [ExactString: MemberShape] = [:]
    /// The shape of an array's elements; nil if no element was seen.
    private(set) var elements: MemberShape?
    /// The shape of a dictionary's values; nil if the object is not a dictionary.
    private(set) var values: MemberShape?

    init() {}

    /// Returns the shape of a member, and adds the member if it is new.
    func member(_ name: ExactString) -> MemberShape {
        if let known = members[name] { return known }
        let new = MemberShape()
        members[name] = new
        return new
    }

    /// Returns the shape of an array's elements.
    func element() -> MemberShape {
        let shape = elements ?? MemberShape()
        elements = shape
        return shape
    }

    /// Returns the shape of a dictionary's values.
    func value() -> MemberShape {
        let shape = values ?? MemberShape()
        values = shape
        return shape
    }

    /// Adds the members of another shape.
    func add(_ other: MemberShape) {
        for (name, child) in other.members { member(name).add(child) }
        if let elements = other.elements { element().add(elements) }
        if let values = other.values { value().add(values) }
    }

    /// Adds the members of a value.
    ///
    /// - Parameter read: a shape that says which objects are dictionaries, which may be this one.
    func add(_ json: JSON, like read: MemberShape?) {
        switch json {
        case .object(let object):
            for (name, value) in object.members {
                let (isMember, part) = Self.role(of: name, in: read)
                (isMember ? member(name) : self.value()).add(value, like: part)
            }
        case .array(let values):
            guard !values.isEmpty else { break }
            let shape = element()
            for value in values { shape.add(value, like: read?.elements) }
        case .null, .bool, .integer, .double, .digits, .string: break
        }
    }

    /// Returns whether a name is a member's or one of a dictionary, and the shape of its value.
    private static func role(
        of name: ExactString, in read: MemberShape?
    ) -> (isMember: Bool, value: MemberShape?) {
        if let member = read?.members[name] { return (true, member) }
        return (read?.values == nil, read?.values)
    }

    /// Returns the members of a value that this shape lacks, without those inside of them. A
    /// dictionary's names are `*`, and so is the place of an array's element.
    func missing(in json: JSON) -> Set<JSONPointer> {
        var missing: Set<JSONPointer> = []
        Self.collect(json, self, at: JSONPointer([]), &missing)
        return missing
    }

    private static func collect(
        _ json: JSON, _ shape: MemberShape?, at path: JSONPointer,
        _ missing: inout Set<JSONPointer>
    ) {
        switch json {
        case .object(let object):
            for (name, value) in object.members {
                let (isMember, part) = role(of: name, in: shape)
                let path = path.appending(isMember ? name : "*")
                if part == nil {
                    missing.insert(path)
                } else {
                    collect(value, part, at: path, &missing)
                }
            }
        case .array(let values):
            let path = path.appending("*")
            for value in values { collect(value, shape?.elements, at: path, &missing) }
        case .null, .bool, .integer, .double, .digits, .string: break
        }
    }

    /// Returns each member of a value, with the members of the same object, at the paths of
    /// ``missing(in:)``.
    ///
    /// - Parameter shape: says which objects are dictionaries; nil if nothing is known.
    static func places(
        in json: JSON, like shape: MemberShape?, at path: JSONPointer = JSONPointer([])
    ) -> [(place: JSONPointer, siblings: [JSONPointer])] {
        switch json {
        case .object(let object):
            let roles = object.members.map { role(of: $0.name, in: shape) }
            let places = zip(object.members, roles).map { member, role in
                path.appending(role.isMember ? member.name : "*")
            }
            return object.members.indices.flatMap { index in
                [(places[index], places)]
                    + Self.places(
                        in: object.members[index].value, like: roles[index].value,
                        at: places[index])
            }
        case .array(let values):
            return values.flatMap {
                places(in: $0, like: shape?.elements, at: path.appending("*"))
            }
        case .null, .bool, .integer, .double, .digits, .string: return []
        }
    }

    /// Adds the members of a value, and returns the value without the elements of arrays and the
    /// values of dictionaries that added none.
    func excerpt(of json: JSON, like read: MemberShape?) -> JSON {
        switch json {
        case .object(let object):
            var kept = JSON.Object()
            for (name, value) in object.members {
                let (isMember, part) = Self.role(of: name, in: read)
                let child = isMember ? member(name) : self.value()
                if isMember || kept.isEmpty || child.lacks(value, like: part) {
                    kept[name] = child.excerpt(of: value, like: part)
                }
            }
            return .object(kept)
        case .array(let values): return .array(excerpt(of: values, like: read?.elements))
        case .null, .bool, .integer, .double, .digits, .string: return json
        }
    }

    /// Keeps elements in pairs, because some types write keys and values in turn, and the first few
    /// of plain values, because some types need two.
    private func excerpt(of values: [JSON], like read: MemberShape?) -> [JSON] {
        guard !values.isEmpty else { return [] }
        let shape = element()
        var kept: [JSON] = []
        for start in stride(from: 0, to: values.count, by: 2) {
            let pair = values[start..<min(start + 2, values.count)]
            let isPlain = pair.allSatisfy { $0.arrayValue == nil && $0.objectValue == nil }
            let isKept = isPlain ? start < 16 : pair.contains { shape.lacks($0, like: read) }
            if kept.isEmpty || isKept { kept += pair.map { shape.excerpt(of: $0, like: read) } }
        }
        return kept
    }

    /// Returns whether the value has a member that this shape lacks.
    private func lacks(_ json: JSON, like read: MemberShape?) -> Bool {
        switch json {
        case .object(let object):
            object.members.contains { name, value in
                let (isMember, part) = Self.role(of: name, in: read)
                guard let child = isMember ? members[name] : values else { return true }
                return child.lacks(value, like: part)
            }
        case .array(let values):
            elements.map { shape in values.contains { shape.lacks($0, like: read?.elements) } }
                ?? !values.isEmpty
        case .null, .bool, .integer, .double, .digits, .string: false
        }
    }
}
