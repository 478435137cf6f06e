import FoldbackCollections

/// A sorted map whose keys are numbers. New keys are mostly the largest.
package typealias NumberMap<Key: LogNumber & SortedKey, Value: Sendable> = SortedMap<Key, Value>

extension IntentNumber: SortedKey {}
extension LogSequence: SortedKey {}
extension Position: SortedKey {}
