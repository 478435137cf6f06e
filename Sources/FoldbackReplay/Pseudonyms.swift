#if ReplayTool
    import Foldback

    /// Replaces texts by pseudonyms. The same text always gets the same pseudonym, different texts
    /// get different pseudonyms, and the text cannot be calculated from its pseudonym. If the
    /// first text is `hello, world`, its pseudonym is `xxxxxxxxxxx1`.
    ///
    /// A pseudonym is as long as its text if there is room for its number. An id that Foldback made
    /// (F12), such as `ann.3.0`, keeps its numbers and gets the pseudonym of its replica, so events
    /// still find their objects. An empty text stays empty.
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
                preconditionFailure("\(name) is not a replica name")
            }
            return pseudonym
        }

        /// Returns the pseudonym of an id that Foldback made; nil for any other text.
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
