import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LawsBroken: LocalizedError {
    public var errorDescription: String? { description }
}

extension ScriptFileError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension Discarded: LocalizedError {
    public var errorDescription: String? {
        "A generator found no value: a filter refused every try."
    }
}

extension EvolutionBroken: LocalizedError {
    public var errorDescription: String? { description }
}

extension UpdateBroken: LocalizedError {
    public var errorDescription: String? { description }
}
