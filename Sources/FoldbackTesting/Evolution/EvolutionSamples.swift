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

    struct Sample {
        let kind: Kind
        /// The version that wrote it: of the codec for an event, of the projection for the others.
        let version: Int64
        /// The JSON that was written, or a text of hexadecimal digits of other bytes.
        let written: JSON
        /// What code of a version read of it, as that code writes it again.
        var readings: [Int64: JSON]
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
        for (version, reading) in self.readings { readings[ExactString("\(version)")] = reading }
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
        for (version, reading) in readings.members {
            guard let version = Int64(version.string) else { return nil }
            self.readings[version] = reading
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
        case (.array(let old), .array(let new)):
            guard old.count == new.count else { return place }
            for (index, (a, b)) in zip(old, new).enumerated() {
                let place = place.appending(ExactString("\(index)"))
                if let change = change(from: a, to: b, at: place) { return change }
            }
            return nil
        default: return old == new ? nil : place
        }
    }
}
