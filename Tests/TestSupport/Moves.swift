import FoldbackTesting

extension Generator where Value == Move {
    /// Moves of every kind. There are three cells, so moves often touch the same cell.
    package static var moves: Generator {
        .weighted(
            (21, movesOfOneCell),
            (1, .making(Move.replaceAll, .dictionaries(of: cells, to: .constant(3), count: 1...2))),
            (2, .making(Move.sweep, cells, cells)))
    }

    /// Moves that leave all other cells as they are.
    package static var movesOfOneCell: Generator {
        .weighted(
            (3, .making(Move.set, cells, .integers(in: 0...9))),
            (4, .making(Move.add, cells, .integers(in: 1...9))),
            (2, .making(Move.claim, cells)), (1, .making(Move.remove, cells)))
    }

    private static var cells: Generator<String> { .element(of: ["a", "b", "c"]) }
}
