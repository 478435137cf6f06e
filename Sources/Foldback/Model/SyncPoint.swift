/// The random name of an authority's data, made when the data was made.
///
/// A device compares it with the lineage that it knows. Another lineage is another server, or one
/// that began again with empty data. A name has 1 to 255 bytes of UTF-8. Two names are equal if
/// their bytes are equal.
public struct Lineage: Hashable, Sendable, CustomStringConvertible {
    public let name: ExactString

    /// Makes a lineage, or returns nil if the name is empty or longer than 255 bytes.
    public init?(_ name: String) {
        guard 1...255 ~= name.utf8.count else { return nil }
        self.name = ExactString(name)
    }

    public var description: String { name.string }

    /// Whether an authority with this lineage is another one than the known authority; false if
    /// none is known (N6).
    package func isOther(than known: Lineage?) -> Bool {
        guard let known else { return false }
        return self != known  // mutant: lineage
    }
}

/// A text that stands for all of an authority's data up to a position.
///
/// A device gets it with a page, and sends it back with the page's position. An authority that has another
/// digest there has other data: a disk that was restored from an image, for example, also has the old
/// lineage. Nobody but the authority looks inside. It has 1 to 255 bytes of UTF-8. Two digests are equal if
/// their bytes are equal.
///
/// An authority makes it of the digest before and of everything that it decided at the position.
public struct RunningDigest: Hashable, Sendable, CustomStringConvertible {
    public let text: ExactString

    /// Makes a digest, or returns nil if the text is empty or longer than 255 bytes.
    public init?(_ text: String) {
        guard 1...255 ~= text.utf8.count else { return nil }
        self.text = ExactString(text)
    }

    public var description: String { text.string }
}

/// What a device knows of an authority's data. Each request carries it, so that the authority and
/// the device notice when the authority is another one or has lost data.
public struct SyncPoint: Hashable, Sendable {
    /// The lineage of the authority that the log has answers from; nil if none was named yet.
    public let lineage: Lineage?
    /// The highest position that the log's confirmed state covers; 0 if there is none.
    public let through: Position
    /// The authority's digest at ``through``; nil if no page named one for exactly this position.
    public let digest: RunningDigest?

    public init(lineage: Lineage?, through: Position, digest: RunningDigest? = nil) {
        self.lineage = lineage
        self.through = through
        self.digest = digest
    }
}
