/// The options of the command line.
struct Options: Equatable, Sendable {
    var isJSON = false
    /// More rounds and a larger log.
    var isFull = false
    /// Only sections whose titles contain this text; case is ignored.
    var only: String?
    /// The directory for the logs, on the measured disk.
    var directory = ".build/bench"
    /// Writes the page of the run into ``keep``.
    var isPage = false
    /// The directory for the charts of the article as SVG files; nil if they are not written.
    var svg: String?
    /// A kept run, or an output of `--json`, to show instead of measuring.
    var from: String?
    /// The directory of kept runs and of the page.
    var keep = ".build/bench"
    /// The tool that measures feed-web in a browser; nil if it was not built.
    var browserTool: String?

    /// - Throws: ``WrongUse``, with the problem in one line.
    init(_ arguments: some Sequence<String>) throws(WrongUse) {
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--json": isJSON = true
            case "--full": isFull = true
            case "--only": only = try Self.value(of: argument, arguments.next())
            case "--directory": directory = try Self.value(of: argument, arguments.next())
            case "--page": isPage = true
            case "--svg": svg = try Self.value(of: argument, arguments.next())
            case "--from": from = try Self.value(of: argument, arguments.next())
            case "--keep": keep = try Self.value(of: argument, arguments.next())
            case "--browser-tool": browserTool = try Self.value(of: argument, arguments.next())
            default: throw WrongUse(reason: "unknown option \(argument)")
            }
        }
        guard from == nil || isPage || svg != nil else {
            throw WrongUse(reason: "--from needs --page or --svg")
        }
    }

    private static func value(
        of option: String, _ value: String?
    ) throws(WrongUse) -> String {
        guard let value, !value.isEmpty, !value.hasPrefix("--") else {
            throw WrongUse(reason: "\(option) needs a value")
        }
        return value
    }
}

struct WrongUse: Error, CustomStringConvertible {
    let reason: String
    var description: String {
        """
        \(reason); usage: foldback-bench [--json] [--full] [--only TEXT] [--directory DIR] \
        [--page] [--svg DIR] [--from FILE] [--keep DIR] [--browser-tool PATH]
        """
    }
}
