/// A row's bytes, or the fact that the row is absent.
package enum RowValue: Equatable, Sendable {
    case absent
    case row([UInt8])

    package var bytes: [UInt8]? {
        switch self {
        case .absent: nil
        case .row(let bytes): bytes
        }
    }

    package init(_ bytes: [UInt8]?) { self = bytes.map { .row($0) } ?? .absent }
}
