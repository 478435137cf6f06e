#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns a projection's state into the bytes of a checkpoint, and back.
///
/// The store calls it on a separate thread while it continues to work. `decode` is the inverse of
/// `encode`. If `decode` throws, only time is lost: the state is folded from an earlier checkpoint,
/// or from the first entry.
public protocol StateCodec<State>: Sendable {
    associatedtype State
    func encode(_ state: State) throws -> [UInt8]
    func decode(_ bytes: RawSpan) throws -> State
}

/// JSON with sorted keys, the default for a state that is `Codable`.
public struct JSONStateCodec<State: Codable>: StateCodec {
    public init() {}

    public func encode(_ state: State) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(state))
    }

    public func decode(_ bytes: RawSpan) throws -> State {
        try bytes.withUnsafeBytes { try JSONDecoder().decode(State.self, from: Data($0)) }
    }
}

extension JSONStateCodec: MemberNaming {
    package var naming: (any MemberNames)? { MemberReader<State>() }
}

extension Projection {
    public static var stateCodec: (any StateCodec<Self>)? { nil }
}

extension Projection where Self: Codable {
    public static var stateCodec: (any StateCodec<Self>)? { JSONStateCodec<Self>() }
}
