#if ReplayTool
    import Foldback

    /// Other texts for texts: the same for the same one, different ones for different ones, and nothing to
    /// calculate a text back from. `hello, world` is `xxxxxxxxxxx1` where it is the first.
    ///
    /// As long as the text where its number leaves room. An id that Foldback made (F12), as `ann.3.0`, is the same
    /// id of its replica's pseudonym, so that events still find what they are about; nothing is nothing.
    struct Pseudonyms {
        private var known: [ExactString: String] = [:]
        private let replicas: Set<ExactString>
        /// Whether replicas have pseudonyms.
        private let areReplicasOver: Bool

        init(_ replicas: some Sequence<ReplicaID>, areReplicasOver: Bool) {
            self.replicas = Set(replicas.map(\.name))
            self.areReplicasOver = areReplicasOver
        }

        mutating func pseudonym(of text: String) -> String {
            guard !text.isEmpty else { return text }
            if let id = id(text) { return id }
            if let known = known[ExactString(text)] { return known }
            let number = String(known.count + 1)
            let room = max(1, text.count - number.count)
            let pseudonym = String(repeating: "x", count: room) + number
            known[ExactString(text)] = pseudonym
            return pseudonym
        }

        mutating func pseudonym(of replica: ReplicaID) -> ReplicaID {
            guard areReplicasOver else { return replica }
            let name = pseudonym(of: replica.name.string)
            guard let pseudonym = ReplicaID(name) else {
                preconditionFailure("\(name) is no name of a replica")
            }
            return pseudonym
        }

        /// Nil where the text is no id.
        private mutating func id(_ text: String) -> String? {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            func isNumber(_ part: Substring) -> Bool { UInt64(part) != nil }
            if parts.count == 2, parts[0].first == "@", isNumber(parts[0].dropFirst()),
                isNumber(parts[1])
            {
                return text
            }
            let name = ExactString(parts.dropLast(2).joined(separator: "."))
            guard parts.suffix(2).allSatisfy(isNumber), replicas.contains(name),
                let replica = ReplicaID(name.string)
            else { return nil }
            let end = parts.suffix(2).joined(separator: ".")
            return "\(pseudonym(of: replica)).\(end)"
        }
    }
#endif
