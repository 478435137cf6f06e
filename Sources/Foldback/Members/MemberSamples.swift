import Synchronization

/// Samples of the values that were written, one for each set of members that was new (E12).
///
/// They say which members there are to read. So opening looks at a few samples, and not at each
/// value.
package struct MemberSamples: Sendable {
    package private(set) var samples: [[UInt8]] = []
    private var tree = MemberTree(MemberShape())
    private let names: any MemberNames

    package init(_ names: any MemberNames, samples: [[UInt8]] = []) {
        self.names = names
        self.samples = samples
        tree = names.members(of: samples)
    }

    /// Adds a value that was written if it has a member that no sample has.
    ///
    /// - Returns: whether it is a sample now.
    /// - Complexity: one pass over the bytes, unless the value has a new member.
    package mutating func add(_ bytes: [UInt8]) -> Bool {
        if !samples.isEmpty, bytes.withUnsafeBytes({ tree.covers($0) }) { return false }
        let larger = names.members(of: samples + [bytes])
        // A name with an escape is never covered, and need not be new. The first value is a sample in
        // any case: it shows that samples were taken.
        guard samples.isEmpty || larger.count > tree.count else { return false }
        samples.append(bytes)
        tree = larger
        return true
    }

    /// Returns the members of the samples that this code does not read.
    ///
    /// - Throws: the error of decoding a sample.
    package func membersLeft() throws -> Set<JSONPointer> {
        try samples.reduce(into: []) { $0.formUnion(try names.membersLeft(in: $1)) }
    }
}

/// The excerpt of one projection's state that a checkpoint has as its sample (E12).
///
/// It is made again only when the state has a new member. Copies of a fold share it, because it is
/// only a cache: an excerpt with more members than a state is as good.
package final class StateExcerpt: Sendable {
    private struct Kept {
        var tree = MemberTree(MemberShape())
        var bytes: [UInt8]?
    }

    private let names: (any MemberNames)?
    private let kept = Mutex(Kept())

    /// - Parameter codec: the projection's state codec. There are excerpts only if its bytes name
    ///   members.
    package init(_ codec: Any?) { names = (codec as? any MemberNaming)?.naming }

    /// Returns the sample of a state's bytes; empty if the codec's bytes name no members.
    ///
    /// - Complexity: one pass over the bytes. If they have a new member, they are also parsed and
    ///   decoded: about six times the cost of encoding, on the thread that writes checkpoints.
    package func sample(of state: [UInt8]) -> [UInt8] {
        guard let names else { return [] }
        let (tree, bytes) = kept.withLock { ($0.tree, $0.bytes) }
        if let bytes, state.withUnsafeBytes({ tree.covers($0) }) { return bytes }
        let sample = names.excerpt(of: state)
        keep(sample, names)
        return sample
    }

    /// Returns the members that this code does not read of the state with this sample.
    ///
    /// - Parameter state: looked at if the sample alone cannot be decoded.
    /// - Throws: the error of decoding the state.
    package func membersLeft(in sample: [UInt8], of state: [UInt8]) throws -> Set<JSONPointer> {
        guard let names else { return [] }
        if !sample.isEmpty, let left = try? names.membersLeft(in: sample) {
            if left.isEmpty { keep(sample, names) }
            return left
        }
        return try names.membersLeft(in: state)
    }

    private func keep(_ sample: [UInt8], _ names: any MemberNames) {
        let tree = names.members(of: [sample])
        kept.withLock { $0 = Kept(tree: tree, bytes: sample) }
    }
}
