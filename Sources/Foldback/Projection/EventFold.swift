#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What stands on a log: a ``Projection``, whose state is a value in memory, or a ``StoredProjection``, whose
/// state is rows on disk. Several can stand on one.
public protocol EventFold: Sendable {
    associatedtype Event: Sendable

    /// How events become bytes in the log.
    static var codec: any EventCodec<Event> { get }

    /// Tells projections apart in the log's file; the type's full name unless another is given. Under a new
    /// name the log is folded again from its first entry, once.
    static var name: String { get }

    /// To be counted up whenever `apply` changes what it makes of the same events, or the state its
    /// shape: what another version has stored is not used. 1 unless another is given;
    /// ``Store/verify()`` finds where that was forgotten.
    static var version: UInt32 { get }
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
}

/// A type's full name, without the addresses that the system puts into those of private and local types, which are
/// others at each launch, and with Foundation's types named alike wherever it is built.
func stableName(of type: Any.Type) -> String {
    var parts = String(reflecting: type).components(separatedBy: "(unknown context at $")
    for index in parts.indices.dropFirst() {
        parts[index] = String(parts[index].drop { $0 != "." }.dropFirst())
    }
    // On Linux it consists of several modules; on Darwin one of its types is C's.
    return parts.joined().replacing("FoundationEssentials.", with: "Foundation.")
        .replacing("FoundationInternationalization.", with: "Foundation.")
        .replacing("__C.NSDecimal", with: "Foundation.Decimal")
}
