import FlyingSocks

/// The bytes of an answer, and then an error that makes FlyingFox close the connection.
struct LastBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    let bytes: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        mutating func nextBuffer(suggested count: Int) throws -> ArraySlice<UInt8>? {
            guard !rest.isEmpty else { throw SocketError.disconnected }
            defer { rest = [] }
            return rest
        }

        mutating func next() throws -> UInt8? {
            guard let byte = rest.popFirst() else { throw SocketError.disconnected }
            return byte
        }
    }
}
