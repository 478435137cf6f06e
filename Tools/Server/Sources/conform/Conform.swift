import ArgumentParser
import Foldback
import FoldbackHTTP
import FoldbackSync
import FoldbackTesting
import Foundation

@main
struct Conform: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks that a server, in any language, keeps Foldback's contract.",
        discussion: """
            It asks the server as devices would, and sends it about 950 events of yours. So use a space that \
            nobody needs. Exit code 0: the server passed. 1: it broke a law; the report says which one, with \
            the exchange that shows it, and what to change. 64: the arguments are wrong.

            An event file has the JSON of one event, as the app records it. "$N" in it stands for a number \
            that is another one in each event; as a whole string, it is the number itself. For example:
              {"op":"set","key":"item $N","value":"$N"}

            Example:
              conform http://127.0.0.1:8787 --space test --token-file token --accepted add.json
            """)

    @Argument(help: "The server's address, without /v1.")
    var server: String

    @Option(help: "The space to use.")
    var space = "default"

    @Option(help: "A file with the token of an account.")
    var tokenFile: String

    @Option(help: "An event that the server accepts.")
    var accepted: String

    @Option(help: "An event that the server rejects.")
    var refused: String?

    @Option(help: "An event after which the server accepts the refused one if it is new.")
    var unlocking: String?

    @Option(help: "An event that the server accepts with another one in its place.")
    var reworded: String?

    @Option(
        help: "An event on which the server decides later, and which it accepts after --settling.")
    var postponed: String?

    @Option(help: "An event after which the server accepts the postponed one.")
    var settling: String?

    @Option(help: "The version of the app's events.")
    var version = 1

    @Option(help: "Repeats a run with the same events.")
    var seed: UInt64?

    func run() async throws {
        guard let url = URL(string: server), url.scheme != nil, url.host() != nil else {
            throw ValidationError("\(server) is not an address such as http://127.0.0.1:8787")
        }
        let token = try Self.text(in: tokenFile)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        var samples = AuthoritySamples(
            codec: TemplateCodec(version: version), accepted: try Self.template(accepted))
        if let refused {
            samples = samples.refusing(
                try Self.template(refused), until: try unlocking.map(Self.template))
        } else if unlocking != nil {
            throw ValidationError("--unlocking needs --refused")
        }
        if let reworded { samples = samples.rewording(try Self.template(reworded)) }
        if let postponed, let settling {
            samples = samples.postponing(
                try Self.template(postponed), until: try Self.template(settling))
        } else if postponed != nil || settling != nil {
            throw ValidationError("--postponed and --settling need each other")
        }
        let report = await checkAuthority(
            HTTPAuthority<JSON>(url, space: space, token: token), samples: samples, seed: seed)
        print(report)
        if !report.isClean { throw ExitCode(1) }
    }

    private static func text(in path: String) throws -> String {
        do { return try String(contentsOf: URL(filePath: path), encoding: .utf8) } catch {
            throw ValidationError("\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    private static func template(_ path: String) throws -> @Sendable (Int) -> JSON {
        let text = try text(in: path)
        let json: JSON
        do { json = try JSON(parsing: Array(text.utf8)) } catch {
            throw ValidationError("\(path) is not JSON: \(error)")
        }
        guard json.with(1) != json.with(2) else {
            throw ValidationError("\(path) has no \"$N\", so all its events would be the same")
        }
        return { json.with($0) }
    }
}

/// Events as JSON of any form.
struct TemplateCodec: EventCodec {
    let format: EventFormat

    init(version: Int) {
        format = EventFormat(codec: EventFormat.json.codec, version: UInt16(clamping: version))
    }

    func encode(_ event: JSON) -> [UInt8] { event.encoded }

    func decode(_ bytes: RawSpan, format: EventFormat) throws -> JSON {
        try JSON(parsing: bytes.withUnsafeBytes { Array($0) })
    }
}

extension JSON {
    /// Returns this value with a number in the places of "$N".
    fileprivate func with(_ number: Int) -> JSON {
        switch self {
        case .string("$N"): return .integer(Int64(number))
        case .string(let text):
            return .string(ExactString(text.string.replacing("$N", with: "\(number)")))
        case .array(let items): return .array(items.map { $0.with(number) })
        case .object(let object):
            var changed: JSON.Object = [:]
            for (name, value) in object.members {
                changed[ExactString(name.string.replacing("$N", with: "\(number)"))] =
                    value.with(number)
            }
            return .object(changed)
        default: return self
        }
    }
}
