import Foundation

/// Returns the command in the body of a request, and the id of the control that began it.
///
/// A page sends `{"do": "like", "post": "1"}`. For Swift, this is `{"like": {"post": "1"}}`.
func command<Command: Decodable>(
    _: Command.Type, in body: Data
) throws(Refusal) -> (Command, from: String?) {
    var fields = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
    guard let name = fields.removeValue(forKey: "do") as? String else {
        throw Refusal(.badRequest, "the body must be a JSON object with \"do\"")
    }
    do {
        let data = try JSONSerialization.data(withJSONObject: [name: fields])
        return (try JSONDecoder().decode(Command.self, from: data), fields["from"] as? String)
    } catch let refusal as Refusal {
        throw refusal
    } catch DecodingError.keyNotFound(let field, _) {
        throw Refusal(.badRequest, "\"\(name)\" needs \"\(field.stringValue)\"")
    } catch DecodingError.typeMismatch(_, let context) where context.codingPath.isEmpty {
        throw Refusal(.badRequest, "unknown command \"\(name)\"")
    } catch {
        throw Refusal(.badRequest, "\"\(name)\" cannot be read: \(error)")
    }
}

/// Returns a text that people will see, if it is neither empty nor too long.
func checked(_ text: String) throws(Refusal) -> String {
    let bytesMax = 4096
    guard !text.allSatisfy(\.isWhitespace) else { throw Refusal(.badRequest, "the text is empty") }
    guard text.utf8.count <= bytesMax else {
        throw Refusal(.badRequest, "the text has more than \(bytesMax) bytes")
    }
    return text
}

/// Returns a number of seconds, if it is neither negative nor too high.
func checked(_ seconds: Double) throws(Refusal) -> Double {
    guard (0...1_000_000).contains(seconds) else {
        throw Refusal(.badRequest, "\"seconds\" must be from 0 to 1000000")
    }
    return seconds
}
