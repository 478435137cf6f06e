import Foldback
import FoldbackUI

/// What a page asks of its replica: the body of `POST /r/NAME/do`.
enum ReplicaCommand {
    case like(post: String), unlike(post: String), boost(post: String), open(post: String)
    case delete(post: String)
    case comment(post: String, text: String)
    case post(String)
    case upload(String)
    case follow(String), unfollow(String)
    case retry(IntentNumber), dismiss(IntentNumber), withdraw(IntentNumber)
    case undo, redo
    case extend(ListEdge)
    case load, sync
    case wait(String, WaitAction)
    case reduceMotion(Bool)
    case signIn, signOut, chart
}

/// The fields of a command as they come.
struct CommandFields: Decodable {
    let `do`: String
    /// The id of the control that began it.
    let from: String?
    let post: String?
    let text: String?
    let name: String?
    let number: UInt64?
    let edge: String?
    let wait: String?
    let action: String?
    let reduce: Bool?
    let id: String?
    let reason: String?
    let replica: String?
    let seconds: Double?
    let value: Double?
    let on: Bool?

    private static var textBytesMax: Int { 4096 }

    /// Returns a field, or throws the words that it is missing.
    func require<Value>(
        _ field: KeyPath<CommandFields, Value?>, _ name: String
    ) throws(Refusal) -> Value {
        guard let value = self[keyPath: field] else {
            throw Refusal(.badRequest, "\"\(self.do)\" needs \"\(name)\"")
        }
        return value
    }

    /// Returns the text, which people see.
    func requireText() throws(Refusal) -> String {
        let text = try require(\.text, "text")
        guard !text.allSatisfy(\.isWhitespace) else {
            throw Refusal(.badRequest, "the text is empty")
        }
        guard text.utf8.count <= Self.textBytesMax else {
            throw Refusal(.badRequest, "the text has more than \(Self.textBytesMax) bytes")
        }
        return text
    }
}

extension ReplicaCommand {
    init(_ fields: CommandFields) throws(Refusal) {
        switch fields.do {
        case "like": self = .like(post: try fields.require(\.post, "post"))
        case "unlike": self = .unlike(post: try fields.require(\.post, "post"))
        case "boost": self = .boost(post: try fields.require(\.post, "post"))
        case "delete": self = .delete(post: try fields.require(\.post, "post"))
        case "open": self = .open(post: try fields.require(\.post, "post"))
        case "comment":
            self = .comment(
                post: try fields.require(\.post, "post"), text: try fields.requireText())
        case "post": self = .post(try fields.requireText())
        case "upload": self = .upload(try fields.requireText())
        case "follow": self = .follow(try fields.require(\.name, "name"))
        case "unfollow": self = .unfollow(try fields.require(\.name, "name"))
        case "retry": self = .retry(try fields.requireNumber())
        case "dismiss": self = .dismiss(try fields.requireNumber())
        case "withdraw": self = .withdraw(try fields.requireNumber())
        case "undo": self = .undo
        case "redo": self = .redo
        case "extend": self = .extend(try fields.requireEdge())
        case "load": self = .load
        case "sync": self = .sync
        case "wait":
            self = .wait(try fields.require(\.wait, "wait"), try fields.requireAction())
        case "motion": self = .reduceMotion(try fields.require(\.reduce, "reduce"))
        case "signIn": self = .signIn
        case "signOut": self = .signOut
        case "chart": self = .chart
        default: throw Refusal(.badRequest, "unknown command \"\(fields.do)\"")
        }
    }
}

extension CommandFields {
    fileprivate func requireNumber() throws(Refusal) -> IntentNumber {
        IntentNumber(try require(\.number, "number"))
    }

    fileprivate func requireEdge() throws(Refusal) -> ListEdge {
        switch try require(\.edge, "edge") {
        case "start": return .start
        case "end": return .end
        case let other: throw Refusal(.badRequest, "unknown edge \"\(other)\"")
        }
    }

    fileprivate func requireAction() throws(Refusal) -> WaitAction {
        let name = try require(\.action, "action")
        guard let action = WaitAction.allCases.first(where: { caseName($0) == name }) else {
            throw Refusal(.badRequest, "unknown action \"\(name)\"")
        }
        return action
    }
}
