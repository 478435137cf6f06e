import Foundation

/// Where failing scripts are kept.
public enum Failures: Hashable, Sendable {
    /// In a folder `FoldbackFailures` beside the test's file. Commit it with the test.
    case besideTests
    case folder(URL)
    /// Nowhere.
    case forgotten
}
