import Foldback
import FoldbackUI
import Foundation
import TestSupport
import Testing

/// Born from an article whose author wanted no new architecture: only a model over structs that the
/// app already has.
@MainActor @Suite struct AdoptionTests {
    private let temporary = TemporaryDirectory()

    @Test func `#10: at most 20 lines make a screen of an existing plain struct`() throws {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/FoldbackUI/FoldbackUI.docc/BuildAScreen.md")
        // All code of the first two steps: the projection, the screen and the store.
        let steps = try #require(
            String(contentsOf: article, encoding: .utf8).components(separatedBy: "\n## 1. ").last?
                .components(separatedBy: "\n## 3. ").first)
        let blocks = steps.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        let lines = blocks.flatMap { $0.split(separator: "\n") }
        #expect(lines.count <= 20)
        for part in ["struct People: Projection", "Store.open(", "OptimisticModel(", ".perform("] {
            #expect(lines.contains { $0.contains(part) }, "\(part)")
        }
    }

    @Test func `#10: the screen of 20 lines works without a server, and after a restart`()
        async throws
    {
        let directory = temporary.log
        do {
            let store = try await Store.open(
                at: directory, People.self, confirmedBy: .downlink, durability: .durable)
            let screen = FirstScreen(model: OptimisticModel(store))
            try await screen.model.perform(.loaded(Person(name: "mia", followers: 9)))
            #expect(screen.lines == ["mia, 9 followers"])
            try await screen.follow("mia")
            #expect(screen.lines == ["mia, 10 followers"])
            #expect(screen.linesWithStatus == ["mia, 10 followers, sending"])
            await store.close()
        }
        let store = try await Store.open(
            at: directory, People.self, confirmedBy: .downlink, durability: .durable)
        let screen = FirstScreen(model: OptimisticModel(store))
        await until { screen.linesWithStatus == ["mia, 10 followers, sending"] }
        await store.close()
    }

    @Test func `U3, #11: a view imports nothing, and draws the app's own values`() throws {
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
        let receipt = try await model.perform(
            .following("mia", true), from: .user(origin: "follow"))
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
