import Foldback
import Foundation

/// Samples of a projection's events, states and rows, as each version of an app wrote them: the file
/// that `checkEvolution` keeps.
struct EvolutionSamples {
    /// What a sample is of. States and rows have one codec, which has no format.
    enum Kind: Hashable {
        case event(codec: Int64)
        case state
        case row(table: String)

        var text: String {
            switch self {
            case .event: "event"
            case .state: "state"
            case .row(let table): "row of \(table)"
            }
        }
    }

    /// What wrote a value: a codec's version, or a projection's, whose codec is 0.
    struct Writer: Hashable {
        let codec: Int64
        let version: Int64

        var text: String { codec == 0 ? "\(version)" : "\(codec).\(version)" }

        init(codec: Int64 = 0, version: Int64) {
            self.codec = codec
            self.version = version
        }

        init?(_ text: String) {
            let numbers = text.split(separator: ".").map { Int64($0) }
            guard let version = numbers.last ?? nil, let codec = numbers.first ?? nil else {
                return nil
            }
            self.init(codec: numbers.count > 1 ? codec : 0, version: version)
        }
    }

    struct Sample {
        let kind: Kind
        /// The version that wrote it: of the codec for an event, of the projection for the others.
        let version: Int64
        /// The JSON that was written, or a text of hexadecimal digits of other bytes.
        let written: JSON
        /// What code of a version read of it, as that code writes it again.
        var readings: [Writer: JSON]
    }

    var samples: [Sample] = []

    /// The highest version that has samples; nil if there is none.
    func newestVersion(of kind: Kind) -> Int64? {
        samples.lazy.filter { $0.kind == kind }.map(\.version).max()
    }
}

// MARK: The file

extension EvolutionSamples {
    /// One sample on each line, so that a change of the file shows what is new.
    var file: String {
        samples.map { String(decoding: JSON.object($0.object).encoded, as: UTF8.self) + "\n" }
            .joined()
    }

    struct Damaged: Error, CustomStringConvertible {
        let line: Int
        let path: String
        var description: String {
            "line \(line) of \(path) cannot be read as a sample; restore the file from your repository"
        }
    }

    /// - Throws: ``Damaged``; an error of the file system.
    init(contentsOf url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        let text = try String(contentsOf: url, encoding: .utf8)
        for (index, line) in text.split(separator: "\n").enumerated() {
            guard let json = try? JSON(parsing: String(line)), let sample = Sample(json) else {
                throw Damaged(line: index + 1, path: url.path)
            }
            samples.append(sample)
        }
    }
}

extension EvolutionSamples.Sample {
    fileprivate var object: JSON.Object {
        var object: JSON.Object = ["version": .integer(version), "written": written]
        switch kind {
        case .event(let codec): object["codec"] = .integer(codec)
        case .state: object["state"] = true
        case .row(let table): object["table"] = .string(table)
        }
        var readings = JSON.Object()
        for (writer, reading) in self.readings { readings[ExactString(writer.text)] = reading }
        object["readings"] = .object(readings)
        return object
    }

    fileprivate init?(_ json: JSON) {
        guard let version = json["version"]?.integerValue, let written = json["written"],
            let readings = json["readings"]?.objectValue
        else { return nil }
        if let codec = json["codec"]?.integerValue {
            kind = .event(codec: codec)
        } else if let table = json["table"]?.stringValue {
            kind = .row(table: table)
        } else {
            guard json["state"] == true else { return nil }
            kind = .state
        }
        self.version = version
        self.written = written
        self.readings = [:]
        for (name, reading) in readings.members {
            guard let writer = EvolutionSamples.Writer(name.string) else { return nil }
            self.readings[writer] = reading
        }
    }
}

enum EvolutionReading {
    /// Returns the first place at which a reading lacks what an earlier reading has.
    static func change(from old: JSON, to new: JSON, at place: JSONPointer = JSONPointer([]))
        -> JSONPointer?
    {
        switch (old, new) {
        case (.object(let old), .object(let new)):
            for (name, value) in old.members {
                let place = place.appending(name)
                guard let other = new[name] else { return place }
                if let change = change(from: value, to: other, at: place) { return change }
            }
            return nil
        case (.array(let old), .array(let new)): return change(from: old, to: new, at: place)
        default: return old == new ? nil : place
        }
    }

    /// Sets, and dictionaries that JSON writes as arrays, are written in any order.
    private static func change(
        from old: [JSON], to new: [JSON], at place: JSONPointer
    ) -> JSONPointer? {
        guard old.count == new.count else { return place }
        var changed: JSONPointer?
        for (index, (a, b)) in zip(old, new).enumerated() where changed == nil {
            changed = change(from: a, to: b, at: place.appending(ExactString("\(index)")))
        }
        var left = new
        for value in old where changed != nil {
            guard let index = left.firstIndex(where: { change(from: value, to: $0) == nil }) else {
                return changed
            }
            left.remove(at: index)
        }
        return nil
    }
}
