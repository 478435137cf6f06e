import Foldback
import FoldbackUI
import Testing

@Suite struct ItemStatusTests {
    @Test func `the worst mark is the most severe, and the newest of equals`() {
        func status(_ states: MarkState...) -> ItemStatus {
            ItemStatus(
                marks: states.enumerated().map {
                    IntentMark(number: IntentNumber(UInt64($0 + 1)), state: $1)
                })
        }
        #expect(status().worst == nil)
        #expect(status(.accepted, .pending).worst == .pending)
        #expect(
            status(.pending, .conflicted(reason: "b"), .accepted).worst == .conflicted(reason: "b"))
        let (old, new) = (Rejection(message: "old"), Rejection(message: "new"))
        #expect(status(.rejected(old), .rejected(new), .pending).worst == .rejected(new))
    }
}
