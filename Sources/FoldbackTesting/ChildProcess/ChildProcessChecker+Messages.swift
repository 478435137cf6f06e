import Foldback
import Foundation

extension ChildProcessChecker {
    /// The states after a step, as text and as bytes of the state codec.
    struct States: Sendable {
        let view: StateText
        let confirmed: StateText
        let viewBytes: [UInt8]?
        let confirmedBytes: [UInt8]?

        /// The first state that differs, with its text here and in the other process.
        func difference(
            from here: ReferenceLog<P>.State
        ) -> (name: String, here: StateText, there: StateText)? {
            if let (here, there) = Self.differing(here.view, view, viewBytes) {
                return ("the view", here, there)
            }
            if let (here, there) = Self.differing(here.confirmed, confirmed, confirmedBytes) {
                return ("confirmed state", here, there)
            }
            return nil
        }

        private static func differing(
            _ here: P, _ there: StateText, _ bytes: [UInt8]?
        ) -> (StateText, StateText)? {
            let text = StateText(here)
            // Rows with equal text may have other bytes, and the bytes are stored.
            if text == there, !P.hasRowsBeside { return nil }
            // A property differs, but the states may be equal by `==`. Only a codec can tell.
            guard here is any Equatable else { return (text, there) }
            guard let bytes, let codec = P.stateCodec else {
                return P.stateCodec == nil ? nil : (text, there)
            }
            guard let read = try? codec.decode(bytes.span.bytes) else { return (text, there) }
            return P.areSame(here, read) ? nil : P.texts(here, read)
        }
    }

    /// A line of the other process after the lines of all steps.
    enum Message {
        case checks(Law)
        case found(Violation)
        case end
    }
}

extension ChildProcessChecker.Task {
    var line: String {
        let laws = laws.map { JSON.string($0.rawValue) }
        return "\(["laws": .array(laws), "onDisk": .bool(onDisk)] as JSON)"
    }

    init?(_ line: String) {
        guard let json = try? JSON(parsing: line), let names = json["laws"]?.arrayValue,
            let onDisk = json["onDisk"]?.boolValue
        else { return nil }
        self.init(laws: names.compactMap { $0.stringValue.flatMap(Law.init) }, onDisk: onDisk)
    }
}

extension ChildProcessChecker.Message {
    var line: String {
        switch self {
        case .checks(let law): return "\(["law": .string(law.rawValue)] as JSON)"
        case .end: return "\(["end": true] as JSON)"
        case .found(let violation):
            var object: JSON.Object = [
                "found": .string(violation.law.rawValue), "manner": .string(violation.manner),
                "statement": .string(violation.statement),
            ]
            if let comparison = violation.comparison {
                object["expectedName"] = .string(comparison.expectedName)
                object["expected"] = .string(comparison.expected.text)
                object["foundName"] = .string(comparison.foundName)
                object["found is"] = .string(comparison.found.text)
            }
            return "\(JSON.object(object))"
        }
    }

    init?(_ line: String) {
        guard let json = try? JSON(parsing: line) else { return nil }
        func text(_ name: ExactString) -> String? { json[name]?.stringValue }
        if json["end"] != nil {
            self = .end
        } else if let law = text("law").flatMap(Law.init) {
            self = .checks(law)
        } else if let law = text("found").flatMap(Law.init), let manner = text("manner"),
            let statement = text("statement")
        {
            var comparison: Violation.Comparison?
            if let expectedName = text("expectedName"), let expected = text("expected"),
                let foundName = text("foundName"), let found = text("found is")
            {
                comparison = Violation.Comparison(
                    expectedName: expectedName, expected: StateText(parsing: expected),
                    foundName: foundName, found: StateText(parsing: found))
            }
            self = .found(Violation(law, manner, statement, comparing: comparison))
        } else {
            return nil
        }
    }
}

extension ChildProcessChecker.States {
    init(_ line: String) throws {
        let json = try JSON(parsing: line)
        func text(_ name: ExactString) -> StateText {
            StateText(parsing: json[name]?.stringValue ?? "")
        }
        func bytes(_ name: ExactString) -> [UInt8]? {
            json[name]?.stringValue.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
        }
        view = text("view")
        confirmed = text("confirmed")
        viewBytes = bytes("viewBytes")
        confirmedBytes = bytes("confirmedBytes")
    }

    static func line(of state: ReferenceLog<P>.State) -> String {
        func bytes(_ state: P) -> JSON? {
            guard state is any Equatable, let codec = P.stateCodec else { return nil }
            return (try? codec.encode(state)).map { .string(Data($0).base64EncodedString()) }
        }
        var object: JSON.Object = [
            "view": .string(StateText(state.view).text),
            "confirmed": .string(StateText(state.confirmed).text),
        ]
        object["viewBytes"] = bytes(state.view)
        object["confirmedBytes"] = bytes(state.confirmed)
        return "\(JSON.object(object))"
    }
}
