import ArgumentParser

/// One of several parts of the mutants. Neighbours in the list are in different parts, so that each
/// part has mutants of every kind.
struct Part: ExpressibleByArgument {
    static let whole = Part(number: 1, count: 1)

    /// From 1 up to `count`.
    private let number: Int
    private let count: Int

    private init(number: Int, count: Int) {
        self.number = number
        self.count = count
    }

    init?(argument: String) {
        let words = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 2, let number = Int(words[0]), let count = Int(words[1]),
            number >= 1, number <= count
        else { return nil }
        self.init(number: number, count: count)
    }

    var defaultValueDescription: String { "all" }

    func contains(_ index: Int) -> Bool { index % count == number - 1 }
}
