import Foldback
import FoldbackUI

/// What a page asks of its replica: the body of `POST /r/NAME/do`.
enum ReplicaCommand: Decodable {
    case like(post: String), unlike(post: String), boost(post: String), open(post: String)
    case delete(post: String)
    case comment(post: String, text: String)
    case post(text: String)
    case upload(text: String)
    case follow(name: String), unfollow(name: String)
    case retry(number: IntentNumber), dismiss(number: IntentNumber), withdraw(number: IntentNumber)
    case undo, redo
    case extend(edge: ListEdge)
    case load
    case wait(wait: String, action: WaitAction)
    case motion(reduce: Bool)
    case signIn, signOut, chart
}

extension ListEdge: @retroactive Decodable {
    public init(from decoder: any Decoder) throws { self = try decoder.namedCase() }
}

extension WaitAction: @retroactive Decodable {
    public init(from decoder: any Decoder) throws { self = try decoder.namedCase() }
}

extension Decoder {
    fileprivate func namedCase<Value: CaseIterable>() throws -> Value {
        let name = try singleValueContainer().decode(String.self)
        guard let value = Value.allCases.first(where: { caseName($0) == name }) else {
            throw Refusal(.badRequest, "\"\(name)\" must be one of \(Value.allCases.map(caseName))")
        }
        return value
    }
}
