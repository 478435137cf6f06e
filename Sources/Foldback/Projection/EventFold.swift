import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A fold of a log's events: a ``Projection``, whose state is a value in memory, or a
/// ``StoredProjection``, whose state is rows on disk. One log can have several.
public protocol EventFold: Sendable {
    associatedtype Event: Sendable

    /// The codec of the events in the log.
    static var codec: any EventCodec<Event> { get }

    /// The name that identifies the projection in the log's file. The default is the type's full
    /// name.
    ///
    /// If the name changes, the log is folded again from its first entry, once. But if the log has
    /// several projections that share conflicts (``ConflictPolicy/shared``, the default), it notes
    /// their names, and opening it without one of them throws `.lacksProjections`. After a rename
    /// of the type or its module, keep the old name with `static var name: String { "App.B" }`, or
    /// drop it with `conflicts: .shared.dropping("App.B")`.
    static var name: String { get }

    /// The version of the projection's code. The default is 1.
    ///
    /// Increment it when `apply` makes another state of the same events, or the state or a row gets a
    /// new member or another shape. States that another version stored are not used. ``Store/verify()`` finds a
    /// forgotten increment.
    static var version: UInt32 { get }

    /// What this code does with the states or rows of earlier versions at the base of a compacted log
    /// (``Store/compact(at:_:also:keeping:archive:forgetting:sources:)``). The default is none.
    static var earlierVersions: [EarlierVersion<Self>] { get }
}

extension EventFold where Event: Codable {
    public static var codec: any EventCodec<Event> { JSONCodec<Event>() }
}

extension EventFold {
    public static var name: String { stableName(of: Self.self) }
    public static var version: UInt32 { 1 }

    package static var identity: ProjectionIdentity {
        ProjectionIdentity(name: ExactString(name), version: version)
    }

    /// The name under which the projection shares conflicts with others (F9).
    package static var memberName: ExactString {
        ExactString((Self.self as? any StandIn.Type)?.nameOfOriginal ?? name)
    }
}

/// A projection that shows the state of another projection in another form, and takes its place
/// when conflicts are shared.
package protocol StandIn {
    static var nameOfOriginal: String { get }
}

/// Returns a type's full name in a form that is the same at each launch and on each platform.
///
/// It leaves out the addresses in the names of private and local types, which change at each
/// launch. It gives Foundation's types the same names on all platforms.
func stableName(of type: Any.Type) -> String {
    stableNames.withLock { names in
        let id = ObjectIdentifier(type)
        if let name = names[id] { return name }
        let name = makeStableName(of: type)
        names[id] = name
        return name
    }
}

/// Each opening of a log asks for the names of its projections, and a name takes microseconds to make.
private let stableNames = Mutex<[ObjectIdentifier: String]>([:])

private func makeStableName(of type: Any.Type) -> String {
    var parts = String(reflecting: type).components(separatedBy: "(unknown context at $")
    for index in parts.indices.dropFirst() {
        parts[index] = String(parts[index].drop { $0 != "." }.dropFirst())
    }
    // On Linux Foundation is several modules. On Darwin one of its types comes from C.
    return parts.joined().replacing("FoundationEssentials.", with: "Foundation.")
        .replacing("FoundationInternationalization.", with: "Foundation.")
        .replacing("__C.NSDecimal", with: "Foundation.Decimal")
}
