import Foldback
import FoldbackUI
import Foundation
import TestSupport
import Testing

/// Born from an article whose author wanted no new architecture: only a model over structs that the
/// app already has.
@MainActor @Suite struct AdoptionTests {
    @Test func `#10: at most 20 lines put the model over an existing plain struct`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Adoption.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let begin = try #require(lines.firstIndex(of: "// adoption: begin"))
        let end = try #require(lines.firstIndex(of: "// adoption: end"))
        #expect(end - begin - 1 <= 20)
    }

    @Test func `#11: a view imports nothing, and draws the app's own values`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "AdoptionView.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(!lines.contains { $0.contains("import ") })
        let row = PersonRow(person: Person(name: "mia", followers: 9), note: ", sending")
        #expect(row.text == "mia, 9 followers, sending")
    }

    @Test func `#15: following a person is shown at once, and the answer replaces it`()
        async throws
    {
        let store = Store.inMemory(People.self, confirmedBy: .acknowledgement)
        let model = OptimisticModel(store, sources: Frames().sources)
        try await store.confirmLoaded(Person(name: "mia", followers: 9))
        let mia = model.select { $0.people["mia"]?.followers }
        await until { mia.value == 9 }
        let receipt = try await model.perform(.followed("mia"), from: .user(origin: "follow"))
        #expect(mia.value == 10)
        #expect(model.status(of: "mia").worst == .pending)
        try await store.reject(receipt.number, message: "mia is private")
        await until { mia.value == 9 }
        #expect(model.status(of: "mia").worst == .rejected(Rejection(message: "mia is private")))
    }
}

extension Store where P == People {
    func confirmLoaded(_ person: Person) async throws {
        let receipt = try await record(.loaded(person))
        try await acknowledge(receipt.number)
    }
}
