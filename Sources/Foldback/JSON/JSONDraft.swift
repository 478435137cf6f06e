/// A JSON value in the middle of several changes.
///
/// ```
///  base      a  c  e  g     the members before the changes: sorted, and shared
///  changes   b: 1, c: —     by name
///  json      a  b  e  g     one pass over both, at the end
/// ```
///
/// Each change costs as much as the change, not as much as the value. Use it for many changes of
/// one value. For one change, ``JSON/merged(with:)`` makes less.
///
/// An object's draft is a reference, so a draft has one owner and is not copied.
package enum JSONDraft {
    case value(JSON)
    case object(ObjectDraft)

    /// The value with all changes.
    ///
    /// - Complexity: one pass over each object that was changed.
    package var json: JSON {
        switch self {
        case .value(let value): value
        case .object(let draft): .object(draft.object)
        }
    }

    /// The bytes of ``json`` as text.
    var byteCount: Int {
        switch self {
        case .value(let value): value.encoded.count
        case .object(let draft): draft.byteCount
        }
    }
}

/// A JSON object in the middle of several changes; see ``JSONDraft``.
package final class ObjectDraft {
    private let base: JSON.Object
    /// The members that are different from those in `base`; a nil value for a removed member.
    private var changes: [ExactString: JSONDraft?] = [:]
    private var count: Int
    private let isCounted: Bool
    /// The drafts of members of `base`, also after they were removed. They know what is counted.
    private var baseDrafts: [ExactString: ObjectDraft] = [:]
    /// The bytes of members of `base` that were counted.
    private var baseSizes: [ExactString: Int] = [:]
    private var countedBaseBytes: Int?
    /// The bytes by which the changes have made the object's text longer; 0 if they are not
    /// counted.
    package private(set) var growth = 0

    /// - Parameter isCounted: whether ``growth`` is needed. To count costs about as much as to
    ///   write the old and new values of changed members as text.
    package init(_ base: JSON.Object, isCounted: Bool) {
        self.base = base
        self.isCounted = isCounted
        count = base.members.count
    }

    /// The object with all changes.
    package var object: JSON.Object {
        guard !changes.isEmpty else { return base }
        let changes = changes.map { (name: $0.key, value: $0.value) }
            .sorted { $0.name < $1.name }
        return base.changed(by: changes) { _, draft in draft?.json }
    }

    var byteCount: Int { baseByteCount + growth }

    /// The bytes of `base` as text. Each byte is counted once, also if drafts are nested.
    private var baseByteCount: Int {
        if let countedBaseBytes { return countedBaseBytes }
        // Two braces, and a comma after each member except the last.
        var bytes = 2 + max(0, base.members.count - 1)
        for (name, value) in base.members {
            bytes += JSON.string(name).encoded.count + 1
            bytes +=
                baseDrafts[name]?.baseByteCount ?? baseSizes[name] ?? value.encoded.count
        }
        countedBaseBytes = bytes
        return bytes
    }

    /// The member's value, or its draft; nil if there is none.
    package subscript(name: ExactString) -> JSONDraft? {
        if let change = changes[name] { return change }
        return base[name].map { .value($0) }
    }

    /// Sets a member, or removes it if `value` is nil.
    package func set(_ value: JSON?, at name: ExactString) {
        let old = self[name]
        guard old != nil || value != nil else { return }
        let isOfBase = changes[name] == nil
        changes.updateValue(value.map { .value($0) }, forKey: name)
        guard isCounted else { return }
        let oldBytes = old?.byteCount ?? 0
        if isOfBase { baseSizes[name] = oldBytes }
        let countBefore = count
        count += (value == nil ? 0 : 1) - (old == nil ? 0 : 1)
        growth += (value?.encoded.count ?? 0) - oldBytes
        // A member also has its name, a colon, and a comma. The last member has no comma, but an
        // empty object has none either.
        let added = count - countBefore
        growth += added * (JSON.string(name).encoded.count + 2)
        if countBefore == 0, count > 0 { growth -= 1 }
        if countBefore > 0, count == 0 { growth += 1 }
    }

    /// Changes the object by a JSON merge patch (RFC 7396).
    ///
    /// - Complexity: O(log n) for each member of the patch, in the object that it changes.
    package func merge(_ patch: JSON.Object) {
        for (name, change) in patch.members {
            guard case .object(let inner) = change else {
                set(change == .null ? nil : change, at: name)
                continue
            }
            guard let nested = objectDraft(at: name) else {
                // The nulls of the patch are not part of the new member.
                set(JSON.null.merged(with: change), at: name)
                continue
            }
            let before = nested.growth
            nested.merge(inner)
            growth += nested.growth - before
        }
    }

    /// Returns the draft of a member that is an object; nil if the member is not.
    private func objectDraft(at name: ExactString) -> ObjectDraft? {
        switch self[name] {
        case .object(let draft): return draft
        case .value(.object(let object)):
            let draft = ObjectDraft(object, isCounted: isCounted)
            if changes[name] == nil { baseDrafts[name] = draft }
            changes.updateValue(.object(draft), forKey: name)
            return draft
        case .value, nil: return nil
        }
    }
}
