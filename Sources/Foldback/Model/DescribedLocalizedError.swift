#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An error whose description is also the text that an app shows for it (`localizedDescription`).
///
/// For the errors of modules that do not import Foundation.
package protocol DescribedLocalizedError: LocalizedError, CustomStringConvertible {}

extension DescribedLocalizedError {
    public var errorDescription: String? { description.asSentence }
}
