import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HistoryFileError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension StateExpectationError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}
