import Foldback

/// A projection whose state codec forgets how many events it has applied.
public struct Forgetful: Projection, Codable, Equatable {
    private(set) var shown = 0
    private var count = 0

    private enum CodingKeys: String, CodingKey { case shown }

    public init() {}

    public static var codec: any EventCodec<Move> { MoveCodec() }

    public mutating func apply(_ move: Move, _ context: EventContext) {
        count += 1
        shown = count
    }
}
