#if ReplayTool
    import Foldback

    extension LoggedEvent {
        /// The event in words. Bytes that are not JSON are counted.
        var sentence: String { (described ?? JSON(logged: bytes)).sentence }
    }

    /// An event in words. The page has the same words, and cuts long ones (Page/words.js).
    extension JSON {
        /// The event as a short sentence: `set post to 1`, `liked: post 42, by ann`.
        ///
        /// An event that is neither a document event nor one case of an enumeration is its JSON.
        var sentence: String {
            guard case .object(let event) = self else { return words }
            if event["op"] == "all", case .array(let events)? = event["events"] {
                return events.map(\.sentence).joined(separator: "; ")
            }
            if let words = event.documentWords ?? event.caseWords { return words }
            if case .array(let bytes)? = event["bytes"], event.members.count == 1 {
                return "\(bytes.count) byte\(bytes.count == 1 ? "" : "s") that are not JSON"
            }
            return event.attributedWords ?? "\(self)"
        }

        /// A value in a sentence. Text has no quotation marks.
        fileprivate var words: String {
            if case .string(let text) = self, text != "" { return text.string }
            return "\(self)"
        }
    }

    extension JSON.Object {
        /// The words of a document event; nil for another event.
        fileprivate var documentWords: String? {
            guard case .string(let op)? = self["op"], let key = self["key"]?.words else {
                return nil
            }
            var require = ""
            if case .string(let state)? = self["require"] { require = " (must be \(state.string))" }
            let value = self["value"].map { "\($0)" } ?? ""
            switch op.string {
            case "set": return "set \(key) to \(value)\(require)"
            case "merge": return "merge \(value) into \(key)\(require)"
            case "delete": return "delete \(key)\(require)"
            case "increment":
                guard let field = self["field"]?.words, let by = self["by"] else { return nil }
                return "increment \(field) of \(key) by \(by)\(require)"
            default: return nil
            }
        }

        /// The words of a case with its values: `liked: post 42`; nil for another object.
        fileprivate var caseWords: String? {
            guard members.count == 1, let (name, value) = members.first,
                case .object(let values) = value
            else { return nil }
            let words = values.memberWords(depth: 0)
            return words.isEmpty ? name.string : "\(name.string): \(words)"
        }

        /// The words of a case that has something about all cases beside it, such as who did it; nil
        /// unless one member is a case.
        fileprivate var attributedWords: String? {
            let cases = members.compactMap { member -> (ExactString, String)? in
                guard case .object(let value) = member.value, let words = value.caseWords else {
                    return nil
                }
                return (member.name, words)
            }
            guard cases.count == 1, let (name, words) = cases.first else { return nil }
            let rest = members.filter { $0.name != name }
                .map { "\($0.name.string) \($0.value.words)" }
            return ([words] + rest).joined(separator: ", ")
        }

        /// The members as `post 42, by ann`. Values without a label have the names _0, _1, ….
        private func memberWords(depth: Int) -> String {
            members.map { name, value in
                let name = name.string
                let isUnnamed = name.first == "_" && Int(name.dropFirst()) != nil
                let label = isUnnamed ? "" : "\(name) "
                guard case .object(let inner) = value, !inner.members.isEmpty, depth < 3 else {
                    return label + value.words
                }
                let words = inner.memberWords(depth: depth + 1)
                return isUnnamed ? words : "\(label)(\(words))"
            }.joined(separator: ", ")
        }
    }

    extension String {
        /// The text, or its start and an ellipsis if it has more than `countMax` characters.
        func cut(to countMax: Int) -> String {
            guard let end = index(startIndex, offsetBy: countMax, limitedBy: endIndex),
                end != endIndex
            else { return self }
            return self[..<index(before: end)] + "\u{2026}"
        }
    }
#endif
