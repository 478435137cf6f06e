import Foundation

/// The choices of one run of a fleet. They repeat the run with the same version of this package and
/// the same generator of events.
public struct RecordedFleet: Codable, Hashable, Sendable {
    public let replicas: Int
    public let stepsMax: Int
    /// See ``SimulationRun/choices``.
    public let choices: [UInt64]

    public init(replicas: Int, stepsMax: Int, choices: [UInt64]) {
        self.replicas = replicas
        self.stepsMax = stepsMax
        self.choices = choices
    }

    /// - Throws: an error of `JSONDecoder`.
    public init(json: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
    }

    /// On one line; ``Finding/ndjson`` of a fleet.
    public var json: String {
        let numbers = choices.map(String.init).joined(separator: ",")
        return #"{"replicas":\#(replicas),"stepsMax":\#(stepsMax),"choices":[\#(numbers)]}"#
    }
}
