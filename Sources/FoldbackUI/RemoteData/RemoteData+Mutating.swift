extension RemoteData {
    /// The value; nil in the other states.
    ///
    /// Setting a value makes the data a success. Setting nil makes a success not asked, and changes
    /// no other state (U6). So `menu.success = menu.success` changes nothing, and
    /// `menu.success?.append(dish)` changes only loaded data, in place.
    public var success: Value? {
        get {
            if case .success(let value) = self { value } else { nil }
        }
        // A setter would copy the value's storage before each change.
        _modify {
            var value = success
            if value != nil { self = .notAsked }
            defer {
                if let value { self = .success(value) }
            }
            yield &value
        }
    }

    /// The failure; nil in the other states.
    ///
    /// Setting a failure makes the data a failure. Setting nil makes a failure not asked, and
    /// changes no other state (U6).
    public var failure: Failure? {
        get {
            if case .failure(let failure) = self { failure } else { nil }
        }
        set {
            if let newValue {
                self = .failure(newValue)
            } else if isFailure {
                self = .notAsked
            }
        }
    }

    /// Changes the value in place, and returns the closure's result, such as the command that
    /// follows from the change. Nil in the other states.
    ///
    /// - Parameter body: called only for a success.
    /// - Throws: the error of `body`. Its changes up to the error remain.
    @discardableResult
    public mutating func modify<R, E: Error>(
        _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R? {
        guard case .success(var value) = self else { return nil }
        // Without the second reference, a change copies no storage.
        self = .notAsked
        defer { self = .success(value) }
        return try body(&value)
    }

    /// The success case, for code that works with any case of any type.
    public static var prism: Prism<RemoteData, Value> {
        Prism(extract: { $0.success }, embed: { .success($0) })
    }
}

/// A case of an enum as a value: how to get the part of a whole, and how to make a whole of a part.
///
/// ```swift
/// let dishes = menus.compactMap(RemoteData.prism.extract)
/// ```
public struct Prism<Whole, Part>: Sendable {
    /// Returns the part; nil if the whole is another case.
    public let extract: @Sendable (Whole) -> Part?
    /// Returns the whole that has this part.
    public let embed: @Sendable (Part) -> Whole
}
