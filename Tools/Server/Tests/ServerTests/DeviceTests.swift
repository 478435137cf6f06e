import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Testing

/// Question: do both kinds of logs sync over HTTP?
@Suite struct DeviceTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func open(_ name: String, _ kind: LogKind) async throws -> Store<Documents> {
        try await Store.open(
            at: folder.url.appending(path: name, directoryHint: .isDirectory), Documents.self,
            confirmedBy: kind, durability: .relaxed)
    }

    @Test(arguments: [LogKind.downlink, .acknowledgement])
    func `what a device records is on the server and on another device`(kind: LogKind) async throws
    {
        let server = try await TestServer.start(in: folder)
        let client = HTTPAuthority<DocumentEvent>(
            server.address, space: "main", token: try await TestServer.token("ann", in: folder))
        let store = try await open("one", kind)
        let sync = Sync(store, with: client, policy: .ordered)
        for number in 1...100 {
            try await store.record(.set(ExactString("key \(number)"), .integer(Int64(number))))
        }
        #expect(try await sync.drain(within: .seconds(30)) == .drained)
        #expect(store.overlay.isEmpty && store.view.json.objectValue?.members.count == 100)

        let other = try await open("two", .downlink)
        _ = try await Sync(other, with: client, policy: .ordered).fetch()
        #expect(other.view.json == store.view.json)
        await other.close()
        await store.close()
    }
}
