#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    /// The names and values of a request, in order.
    struct InspectorQuery: Sendable {
        private let items: [(name: String, value: String)]

        /// Reads a query as browsers write it (application/x-www-form-urlencoded).
        ///
        /// - Throws: `ValidationError` if a part is not UTF-8.
        init(_ text: String) throws {
            items = try text.split(separator: "&").map { part in
                let halves = part.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = try Self.decoded(halves[0])
                return (name, halves.count > 1 ? try Self.decoded(halves[1]) : "")
            }
        }

        private static func decoded(_ part: Substring) throws -> String {
            let spaced = part.replacing("+", with: " ")
            guard let text = spaced.removingPercentEncoding else {
                throw ValidationError("\(part) is not a part of a query")
            }
            return text
        }

        func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

        /// The value; nil if it is absent or empty.
        subscript(name: String) -> String? { all(name).last.flatMap { $0.isEmpty ? nil : $0 } }

        func required(_ name: String) throws -> String {
            guard let value = self[name] else { throw ValidationError("\(name) is missing") }
            return value
        }

        func number(_ name: String) throws -> UInt64? {
            try self[name].map { text in
                guard let number = UInt64(text) else {
                    throw ValidationError("\(name) must be a number, not \(text)")
                }
                return number
            }
        }

        func sequence(_ name: String) throws -> LogSequence {
            guard let number = try number(name) else { throw ValidationError("\(name) is missing") }
            return LogSequence(number)
        }

        func count(_ name: String, atMost countMax: Int) throws -> Int {
            let count = try number(name).map { Int(clamping: $0) } ?? countMax
            guard count <= countMax else {
                throw ValidationError("\(name) must be at most \(countMax), not \(count)")
            }
            return count
        }

        /// The filter that the query describes with the options of `log`, as words of a command
        /// line; see ``EntryFilter``.
        var filterWords: [String] {
            ["kind", "intent", "key", "state", "since", "until", "with"].flatMap { name in
                all(name).filter { !$0.isEmpty }.map { "--\(name)=\($0)" }
            }
        }

        /// The text to search for; nil if all entries have it.
        var text: String? { self["text"] }
    }

    extension EntryFilter {
        /// Returns the filter that words of a command line describe.
        ///
        /// - Throws: `ValidationError` with the words of the command.
        init(words: [String]) throws {
            do { self = try EntryFilter.parse(words) } catch {
                throw ValidationError(EntryFilter.message(for: error))
            }
        }
    }
#endif
