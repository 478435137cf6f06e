#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The errors of functions that an app calls inside `apply`, or to read data. For each, its
// `description` has all that there is to say.

extension DocumentConflict: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension DocumentEventError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension RowError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension JSONError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension JSONFormError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}

extension InputError: LocalizedError {
    public var errorDescription: String? { description.asSentence }
}
