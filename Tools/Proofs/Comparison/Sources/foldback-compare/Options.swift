/// The options of the command line.
struct Options: Sendable {
    var isJSON = false
    /// The directory for the files, on the measured disk.
    var directory = ".build/compare"
    /// Only parts whose names contain this text; case is ignored.
    var only: String?
    /// An editing session in the format of github.com/josephg/editing-traces, .json or .json.gz.
    var session: String?
    /// The text file that is typed if no session is given.
    var text: String?
    /// A Python that has Loro, and the script that types a session into it; nil if Loro is left out.
    var python: String?
    var loro: String?

    /// - Throws: ``WrongUse`` if an argument is unknown or lacks its value.
    init(_ arguments: some Sequence<String>) throws(WrongUse) {
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            if argument == "--json" {
                isJSON = true
                continue
            }
            guard let value = arguments.next() else { throw WrongUse() }
            switch argument {
            case "--directory": directory = value
            case "--only": only = value
            case "--session": session = value
            case "--text": text = value
            case "--python": python = value
            case "--loro": loro = value
            default: throw WrongUse()
            }
        }
    }

    /// Whether a part of the run is wanted.
    func wants(_ part: String) -> Bool {
        only.map { part.lowercased().contains($0.lowercased()) } ?? true
    }
}

struct WrongUse: Error, CustomStringConvertible {
    var description: String {
        """
        usage: foldback-compare [--json] [--directory DIR] [--only TEXT] [--session FILE] \
        [--text FILE] [--python PATH --loro SCRIPT]
        """
    }
}
