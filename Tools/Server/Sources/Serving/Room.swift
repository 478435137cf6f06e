import Synchronization

/// Bytes that all requests together may keep in memory (N11).
final class Room: Sendable {
    private let bytesMax: Int
    private let bytes = Mutex(0)

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The bytes that are in use.
    var used: Int { bytes.withLock { $0 } }

    /// Returns a share without bytes.
    func share() -> Share { Share(self) }

    /// The bytes of one request. They are given back with this object.
    final class Share: Sendable {
        private let room: Room
        private let taken = Mutex(0)

        fileprivate init(_ room: Room) { self.room = room }

        deinit { room.bytes.withLock { $0 -= taken.withLock { $0 } } }

        /// Takes more bytes. Returns false if they do not fit.
        func grow(by count: Int) -> Bool {
            let fits = room.bytes.withLock { bytes in
                guard bytes + count <= room.bytesMax else { return false }
                bytes += count
                return true
            }
            if fits { taken.withLock { $0 += count } }
            return fits
        }
    }
}
