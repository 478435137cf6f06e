import Foldback
import Foundation

/// Checks that this version of an app reads what earlier versions wrote, and that what it writes has
/// a version of its own where older code would read only a part.
///
/// ```swift
/// @Test func `events of all versions are read`() throws {
///     try checkEvolution(
///         of: Tasks.self, events: Tasks.events,
///         samples: URL(filePath: #filePath).deletingLastPathComponent()
///             .appending(path: "Tasks.samples"))
/// }
/// ```
/// The first run of a version adds samples of its events and of its state to the file: one for each
/// set of members that the generator makes. Commit the file with the test. Each later run decodes all
/// samples. It fails
/// - if a sample cannot be read, or is read in another way, without a higher version;
/// - if an event or a state has a new member without a higher version: of the codec for an event, of
///   the projection for a state;
/// - if a member has the name of one that an earlier version dropped;
/// - if a version went down;
/// - if ``/Foldback/EventFold/earlierVersions`` does not say what becomes of an earlier version's states or
///   rows in a compacted log, or if what it says does not work for a sample. Rows that are migrated are not
///   tried, because a sample has no key;
/// - if a sample is missing and the environment has `CI`, because nothing is recorded there.
///
/// A new case of an event needs no higher version: older code reports that it cannot read it (E4).
///
/// - Parameters:
///   - projection: the projection whose events and state are sampled.
///   - events: generates events with all cases and members. 1,000 are drawn, always the same ones.
///   - samples: the file, in the test's folder. It is made if it does not exist.
/// - Throws: ``EvolutionBroken`` with all that is wrong, and the file is unchanged; errors of the
///   file system.
public func checkEvolution<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, samples: URL
) throws {
    try checkEvolution(of: P.self, events: events, samples: samples, isRecording: isRecording)
}

/// The same, with or without new samples.
func checkEvolution<P: Projection>(
    of projection: P.Type, events: Generator<P.Event>, samples: URL, isRecording: Bool
) throws {
    let drawn = drawnEvents(events)
    var state = P()
    for (number, event) in drawn.enumerated() {
        try? state.apply(event, EventContext(.position(Position(UInt64(number + 1)))))
    }
    var check = try EvolutionCheck(P.self, samples, isRecording: isRecording)
    check.checkEvents(drawn)
    if let codec = P.stateCodec, let bytes = try? codec.encode(state) {
        let names = (codec as? any MemberNaming)?.naming
        // An excerpt of a state whose parts depend on each other may be none.
        let excerpt = names?.excerpt(of: bytes) ?? bytes
        let isState = (try? codec.decode(excerpt.span.bytes)) != nil
        check.check(.state, [isState ? excerpt : bytes], names) { bytes in
            try codec.encode(try codec.decode(bytes.span.bytes))
        }
        check.checkEarlier(.state, P.versionsAtBase) { bytes, version in
            try codec.encode(try P.state(atBase: bytes, version: version))
        }
    }
    check.requireEarlier()
    try check.finish()
}

/// Checks that this version of an app reads what earlier versions wrote. The samples are of events,
/// and of the rows of each table.
///
/// - Parameters:
///   - projection: the projection whose events and rows are sampled.
///   - events: generates events with all cases and members. 1,000 are drawn, always the same ones.
///   - samples: the file, in the test's folder. It is made if it does not exist.
/// - Throws: ``EvolutionBroken`` with all that is wrong, and the file is unchanged; errors of the
///   file system.
public func checkEvolution<P: StoredProjection>(
    of projection: P.Type, events: Generator<P.Event>, samples: URL
) throws {
    try checkEvolution(of: P.self, events: events, samples: samples, isRecording: isRecording)
}

/// The same, with or without new samples.
func checkEvolution<P: StoredProjection>(
    of projection: P.Type, events: Generator<P.Event>, samples: URL, isRecording: Bool
) throws {
    let drawn = drawnEvents(events)
    var rows = RowsInMemory<P>()
    for (number, event) in drawn.enumerated() {
        try? rows.apply(event, EventContext(.position(Position(UInt64(number + 1)))))
    }
    var check = try EvolutionCheck(P.self, samples, isRecording: isRecording)
    check.checkEvents(drawn)
    for (space, names) in zip(P.schema.spaceNames, P.schema.memberNames) where space.isTable {
        let written = rows.everything.compactMap { key, row in
            P.schema.shown(key: key, row: row)?.table == space.name ? row : nil
        }
        check.check(.row(table: space.name), written, names) {
            try P.schema.rewritten($0, of: space.name)
        }
        // A sample has no key, so only an adopted row can be made of it.
        check.checkEarlier(.row(table: space.name), P.adoptedVersions) { row, _ in
            try P.schema.rewritten(row, of: space.name)
        }
    }
    check.requireEarlier()
    try check.finish()
}

/// Whether new samples are kept. A server for tests has no repository to keep them in.
private var isRecording: Bool { ProcessInfo.processInfo.environment["CI"] == nil }

private func drawnEvents<Event>(_ events: Generator<Event>) -> [Event] {
    (0..<1_000).compactMap { try? events.value(seed: UInt64($0)) }
}

/// What this version of an app reads in another way than an earlier one, or writes without a version
/// of its own.
public struct EvolutionBroken: Error, CustomStringConvertible {
    /// One sentence for each problem, with the sample and the rule.
    public let findings: [String]
    public var description: String { findings.joined(separator: "\n") }
}

private struct EvolutionCheck<P: EventFold> {
    private let url: URL
    private var samples: EvolutionSamples
    private let isRecording: Bool
    private var findings: [String] = []
    private var additions: [EvolutionSamples.Sample] = []

    init(_: P.Type, _ url: URL, isRecording: Bool) throws {
        self.url = url
        self.isRecording = isRecording
        samples = try EvolutionSamples(contentsOf: url)
    }

    mutating func checkEvents(_ events: [P.Event]) {
        let codec = P.codec
        let written = events.compactMap { try? codec.encode($0) }
        let own = EvolutionSamples.Kind.event(codec: Int64(codec.format.codec))
        check(own, written, (codec as? any MemberNaming)?.naming) { bytes in
            try codec.encode(try codec.decode(bytes.span.bytes, format: codec.format))
        }
        // Events of earlier versions, and of other codecs that the codec reads, stay in logs.
        for index in samples.samples.indices {
            let sample = samples.samples[index]
            guard case .event(let number) = sample.kind else { continue }
            let format = EventFormat(codec: UInt8(number), version: UInt16(sample.version))
            guard sample.kind != own || format != codec.format else { continue }
            read(index, Int64(codec.format.version)) { bytes in
                try codec.encode(try codec.decode(bytes.span.bytes, format: format))
            }
        }
    }

    /// Checks that what this code takes from the base of a compacted log can be made of the samples.
    mutating func checkEarlier(
        _ kind: EvolutionSamples.Kind, _ taken: Set<UInt32>,
        _ make: ([UInt8], UInt32) throws -> [UInt8]
    ) {
        for index in samples.samples.indices where samples.samples[index].kind == kind {
            let version = samples.samples[index].version
            guard version < Int64(P.version), let taken = taken.first(where: { $0 == version })
            else {
                continue
            }
            read(index, Int64(P.version)) { try make($0, taken) }
        }
    }

    /// Checks that the projection says what becomes of each earlier version.
    mutating func requireEarlier() {
        let told = Set(P.earlierVersions.map { Int64($0.number) })
        let versions = samples.samples.filter {
            if case .event = $0.kind { false } else { true }
        }.map(\.version)
        for version in Set(versions).subtracting(told).sorted() where version < Int64(P.version) {
            findings.append(
                "the projection has version \(P.version), and earlierVersions does not say what becomes "
                    + "of version \(version) in a compacted log: add .adopted(\(version)), "
                    + ".migrated(\(version)) or .refolded(\(version))")
        }
    }

    /// Checks the samples of the present version, and what this code writes.
    ///
    /// - Parameters:
    ///   - names: says which members the bytes have; nil if they name none.
    ///   - rewrite: decodes bytes of this version, and encodes the value again.
    mutating func check(
        _ kind: EvolutionSamples.Kind, _ written: [[UInt8]], _ names: (any MemberNames)?,
        _ rewrite: ([UInt8]) throws -> [UInt8]
    ) {
        let version = writer(of: kind).version
        if let newest = samples.newestVersion(of: kind), newest > version {
            findings.append(
                "the \(kind.text) has version \(version), but there are samples of version "
                    + "\(newest): a version never goes down")
            return
        }
        for index in samples.samples.indices
        where samples.samples[index].kind == kind && samples.samples[index].version == version {
            read(index, version, rewrite)
        }
        let isFirst = samples.newestVersion(of: kind) != version
        guard let names else {
            // Nobody sees the members, so a few samples of each version must do.
            let few = Set(written).sorted { $0.lexicographicallyPrecedes($1) }.prefix(8)
            if isFirst { add(Array(few), kind, version, rewrite) }
            return
        }
        let known = members(of: kind, version, names)
        if !isFirst, let finding = newMember(in: written, kind, version, names) {
            findings.append(finding)
            return
        }
        var sampled = known
        for (index, bytes) in written.enumerated() {
            let places = names.places(in: bytes).map(\.place)
            guard !sampled.isSuperset(of: places) || isFirst && index == 0 else { continue }
            sampled.formUnion(places)
            add([bytes], kind, version, rewrite)
        }
        checkReusedNames(kind, version, names)
    }

    private mutating func add(
        _ written: [[UInt8]], _ kind: EvolutionSamples.Kind, _ version: Int64,
        _ rewrite: ([UInt8]) throws -> [UInt8]
    ) {
        for bytes in written {
            do {
                additions.append(
                    EvolutionSamples.Sample(
                        kind: kind, version: version, written: Self.json(bytes),
                        readings: [writer(of: kind): Self.json(try rewrite(bytes))]))
            } catch {
                findings.append(
                    "the \(kind.text) \(Self.text(Self.json(bytes))) cannot be read by the code that "
                        + "wrote it: \(error)")
            }
        }
    }

    /// Returns the finding of a new member that older code of the same version drops: it is beside a
    /// member of a sample, or in an object that is empty in a sample. Other new members are those of a
    /// new case of an enum.
    private func newMember(
        in written: [[UInt8]], _ kind: EvolutionSamples.Kind, _ version: Int64,
        _ names: any MemberNames
    ) -> String? {
        let known = members(of: kind, version, names)
        let parents = known.union([JSONPointer([])]).filter { parent in
            !known.contains { $0.names.dropLast() == parent.names[...] }
        }
        for bytes in written {
            let added = names.places(in: bytes).filter { place, siblings in
                !known.contains(place)
                    && (siblings.contains { known.contains($0) }
                        || parents.contains(JSONPointer(Array(place.names.dropLast()))))
            }
            guard !added.isEmpty else { continue }
            return
                "the \(kind.text) \(Self.text(Self.json(bytes))) of version \(version) has the new "
                + "member "
                + Set(added.map(\.place)).sorted().map(\.description).joined(separator: ", ")
                + ", which older code of this version drops: raise the version of the "
                + "\(owner(of: kind)), or delete the samples of a version that was never shipped"
        }
        return nil
    }

    /// The places of the members in the samples of a version.
    private func members(
        of kind: EvolutionSamples.Kind, _ version: Int64, _ names: any MemberNames
    ) -> Set<JSONPointer> {
        (samples.samples + additions).filter { $0.kind == kind && $0.version == version }
            .reduce(into: []) {
                $0.formUnion(names.places(in: Self.bytes($1.written)).map(\.place))
            }
    }

    /// A member that an earlier version dropped must not come back: old events still have it.
    private mutating func checkReusedNames(
        _ kind: EvolutionSamples.Kind, _ version: Int64, _ names: any MemberNames
    ) {
        let now = members(of: kind, version, names)
        let versions = Set(samples.samples.filter { $0.kind == kind }.map(\.version)).sorted()
        for (older, newer) in zip(versions, versions.dropFirst()) where newer < version {
            let dropped = members(of: kind, older, names)
                .subtracting(members(of: kind, newer, names))
            for member in dropped.intersection(now).sorted() {
                findings.append(
                    "\(member) of the \(kind.text) is the name of a member that version \(older) "
                        + "had and version \(newer) dropped: values of version \(older) still have "
                        + "it. Choose another name")
            }
        }
    }

    /// Checks that a sample is read as before.
    private mutating func read(
        _ index: Int, _ version: Int64, _ rewrite: ([UInt8]) throws -> [UInt8]
    ) {
        let sample = samples.samples[index]
        let name =
            "the \(sample.kind.text) of version \(sample.version) \(Self.text(sample.written))"
        let reading: JSON
        do {
            reading = Self.json(try rewrite(Self.bytes(sample.written)))
        } catch {
            findings.append("\(name) cannot be read any more: \(error)")
            return
        }
        // Another codec writes other bytes of the same value.
        let writer = writer(of: sample.kind)
        let last = sample.readings.keys.filter { $0.codec == writer.codec }.map(\.version).max()
        let old = last.flatMap {
            sample.readings[EvolutionSamples.Writer(codec: writer.codec, version: $0)]
        }
        if let last, let old, let place = EvolutionReading.change(from: old, to: reading),
            last >= version
        {
            findings.append(
                "\(name) is read in another way at \(place): \(Self.text(reading)), not "
                    + "\(Self.text(old)). Read it as before, or raise the version of the "
                    + owner(of: sample.kind))
            return
        }
        samples.samples[index].readings[writer] = reading
    }

    private func writer(of kind: EvolutionSamples.Kind) -> EvolutionSamples.Writer {
        guard case .event = kind else { return EvolutionSamples.Writer(version: Int64(P.version)) }
        let format = P.codec.format
        return EvolutionSamples.Writer(codec: Int64(format.codec), version: Int64(format.version))
    }

    private func owner(of kind: EvolutionSamples.Kind) -> String {
        if case .event = kind { "codec" } else { "projection" }
    }

    /// Writes the new samples.
    mutating func finish() throws {
        if !additions.isEmpty, !isRecording {
            findings += additions.map {
                "no sample of the \($0.kind.text) of version \($0.version) "
                    + "\(Self.text($0.written)): run the test without CI in the environment, and "
                    + "commit \(url.lastPathComponent)"
            }
        }
        guard findings.isEmpty else { throw EvolutionBroken(findings: findings) }
        guard isRecording else { return }
        samples.samples += additions
        let file = Data(samples.file.utf8)
        guard file != (try? Data(contentsOf: url)) else { return }
        try file.write(to: url, options: .atomic)
    }

    // MARK: Bytes as JSON

    private static var binaryPrefix: String { "bytes " }

    private static func json(_ bytes: [UInt8]) -> JSON {
        (try? JSON(parsing: bytes)) ?? .string(binaryPrefix + bytes.hexadecimal)
    }

    private static func bytes(_ json: JSON) -> [UInt8] {
        guard let text = json.stringValue, text.hasPrefix(binaryPrefix) else {
            return json.encoded
        }
        let digits = Array(text.dropFirst(binaryPrefix.count))
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    private static func text(_ json: JSON) -> String {
        String(decoding: json.encoded, as: UTF8.self)
    }
}
