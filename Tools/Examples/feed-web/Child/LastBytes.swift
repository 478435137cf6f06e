import FlyingSocks

/// The bytes of an answer, and then an error that makes FlyingFox close the connection.
struct LastBytes: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
    private(set) var bytes: [UInt8]

    func makeAsyncIterator() -> LastBytes { self }

    mutating func nextBuffer(suggested count: Int) throws -> [UInt8]? {
        guard !bytes.isEmpty else { throw SocketError.disconnected }
        defer { bytes = [] }
        return bytes
    }

    mutating func next() throws -> UInt8? { preconditionFailure("FlyingFox reads buffers") }
}
