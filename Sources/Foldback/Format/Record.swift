/// One record of the log: an entry with its header (L5). <doc:FileFormat> describes each byte.
///
/// ```
///  0       1     2      3      4        6        8     16           24      26
///  format  kind  flags  codec  event    replica  time  predecessor  info's  info, body,
///                              version                 's checksum  length  checksum
/// ```
package struct Record: Sendable {
    package let stamp: Stamp
    /// The replica that wrote the entry.
    package let replica: ReplicaID
    package let info: [String: String]
    package let entry: Entry

    package init(
        stamp: Stamp, replica: ReplicaID, info: [String: String], entry: Entry
    ) {
        self.stamp = stamp
        self.replica = replica
        self.info = info
        self.entry = entry
    }
}

/// The numbers and flags in a record's header.
enum RecordFormat {
    static let version: UInt8 = 1
    static let headerBytes = 26

    /// The kind of an entry.
    ///
    /// 9 to 63 are reserved for Foldback, 64 to 127 for its other parts. 0 and 128 to 255 are never
    /// used.
    enum Kind: UInt8 {
        case intent = 1
        case acknowledged = 2
        case rejected = 3
        case withdrawn = 4
        case dismissed = 5
        case confirmed = 6
        case released = 7
        case restored = 8

        init(_ change: IntentChange.Kind) {
            switch change {
            case .rejected: self = .rejected
            case .withdrawn, .abandoned, .undone, .lapsed: self = .withdrawn
            case .dismissed: self = .dismissed
            case .released: self = .released
            case .restored: self = .restored
            }
        }
    }

    enum IntentFlag {
        static let confirmOnly: UInt8 = 1
        static let once: UInt8 = 2
        static let retries: UInt8 = 4
        /// A varint of ``IntentTerm`` flags follows.
        static let terms: UInt8 = 8
        static let all: UInt8 = 15
    }

    /// The further flags of an intent.
    enum IntentTerm {
        static let held: UInt64 = 1
        static let replacingKey: UInt64 = 2
        static let replaces: UInt64 = 4
        static let group: UInt64 = 8
        static let undoes: UInt64 = 16
        static let inverse: UInt64 = 32
        static let all: UInt64 = 63
    }

    enum AcknowledgedFlag {
        static let position: UInt8 = 1
        static let replacement: UInt8 = 2
        static let settles: UInt8 = 4
        static let all: UInt8 = 7
    }

    enum RejectedFlag {
        static let code: UInt8 = 1
        static let all: UInt8 = 1
    }

    enum WithdrawnFlag {
        static let mayHaveLeft: UInt8 = 1
        static let undone: UInt8 = 2
        static let lapsed: UInt8 = 4
        static let all: UInt8 = 7
    }

    /// 1 is reserved.
    enum ConfirmedFlag {
        /// Each event has its own format. Written only if the formats of a batch differ.
        static let formats: UInt8 = 2
        static let all: UInt8 = 2
    }

    /// The form of an event's origin in a batch.
    enum OriginTag {
        static let none: UInt8 = 0
        /// An intent of this log. The replica id is an index into the log's table.
        static let own: UInt8 = 1
        /// An intent of another log. The replica id is written out.
        static let other: UInt8 = 2
    }
}

extension ReplicaTable {
    /// Returns the replica id that a record names.
    ///
    /// - Throws: `.damaged` if the table does not have the index.
    package func name(at index: UInt16) throws(FormatError) -> ReplicaID {
        guard index < names.count else { throw .damaged("it names an unknown replica \(index)") }
        return names[Int(index)]
    }
}
