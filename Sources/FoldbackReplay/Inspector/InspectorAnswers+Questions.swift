#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    extension InspectorAnswers {
        /// Returns the lines of `why --place`.
        func causes(_ query: InspectorQuery) async throws -> JSON {
            let place = try JSONPointer(argument: query["place"] ?? "")
            let view = try projection(query).view
            return try await long.run { [log] in
                ["causes": .array(try view.causes(log.reader, of: place).map(\.json))]
            }
        }

        /// Returns the lines of `why --intent`.
        func story(_ query: InspectorQuery) async throws -> JSON {
            let number = IntentNumber(try query.sequence("intent").value)
            let view = try projection(query).view
            return try await long.run { [log] in
                let story = try view.story(log.reader, of: number)
                var object = story.end
                object["chapters"] = .array(story.chapters.map(\.json))
                object["attempt"] = story.attempt?.headJSON
                return .object(object)
            }
        }

        /// Returns the marks of the entries after a sequence, and up to which entry they are known.
        func marks(_ query: InspectorQuery) throws -> JSON {
            let (found, isOver) = index(of: try projection(query))
                .marks(after: try query.sequence("after"))
            return [
                "rejected": .of(found.rejected), "conflicted": .of(found.conflicted),
                "faulted": .of(found.faulted), "through": .of(found.through),
                "isOver": .bool(isOver),
            ]
        }

        /// Returns the verdict of `verify` over the first projection.
        func verification() async throws -> JSON {
            try await long.run { [log] in
                do { return try log.projections[0].view.verification(log.reader).headJSON } catch {
                    guard let error = error as? LogError, let found = Verification(error)
                    else { throw error }
                    return found.headJSON
                }
            }
        }

        /// Returns the line of `first-break`.
        func firstBreak(_ query: InspectorQuery) async throws -> JSON {
            let view = try projection(query).view
            let condition: BreakCondition
            switch (query["expect"], query["check"]) {
            case (let expect?, nil): condition = .state(try StateExpectation(argument: expect))
            case (nil, let check?): condition = try .check(named: check, of: view)
            default: throw ValidationError("give one of expect and check")
            }
            let sure = SendableCondition(condition)
            return try await long.run { [log] in
                let found = try view.firstBreak(
                    log.reader, assumingMonotone: false, sure.condition, .silent)
                return found?.json ?? SeenBreak.none(isExact: true, inconclusive: 0)
            }
        }

        /// Returns the lines of `rerun`.
        func rerun(_ query: InspectorQuery) async throws -> JSON {
            let comparison = try log.reruns.named(query["name"])
            return try await long.run { [log] in
                let rerun = try comparison.run(log.reader, log.listed, 1_000)
                return ["lines": .array(rerun.lines)]
            }
        }

        /// Returns the files of `minimize`, as NDJSON and as a test.
        func minimized(_ body: JSON) async throws -> JSON {
            guard let expect = body["expect"]?.stringValue else {
                throw ValidationError("expect must be a text: PLACE OP LITERAL")
            }
            let expectation = try StateExpectation(argument: expect)
            let view = try log.projection(named: body["projection"]?.stringValue).view
            return try await long.runSuspending { [log] in
                let found = try await view.minimized(
                    log.reader, tries: InspectorLimits.minimizeTriesMax, expectation, .silent
                ) { _ in false }
                guard let found else { return ["entries": .null] }
                let test = TestCase(
                    name: "\(log.name)-small", history: found.history, view: view,
                    expectation: expectation)
                return [
                    "entries": .integer(Int64(found.entryCount)),
                    "of": .integer(Int64(found.entryCountBefore)),
                    "tries": .integer(Int64(found.tried)), "files": .files(try test.files()),
                ]
            }
        }

        /// Returns a plot of the whole log as SVG.
        func plot(_ query: InspectorQuery) async throws -> JSON {
            guard let subject = PlotSubject(rawValue: try query.required("of")) else {
                throw ValidationError("of must be pending, settling or bytes")
            }
            return try await long.run { [log] in
                ["svg": .string(subject.svg(try LogPlots(log.reader)))]
            }
        }
    }

    /// A condition that is asked on one thread. Those of a request are values.
    private struct SendableCondition: Sendable {
        enum Kind {
            case check(String)
            case state(StateExpectation)
        }
        private let kind: Kind?

        init(_ condition: BreakCondition) {
            kind =
                switch condition {
                case .check(let name): .check(name)
                case .state(let expectation): .state(expectation)
                case .command: nil
                }
        }

        var condition: BreakCondition {
            switch kind {
            case .check(let name): .check(name)
            case .state(let expectation): .state(expectation)
            case nil: .command { _ in .inconclusive }
            }
        }
    }

    extension Verification {
        /// The verdict as the page shows it.
        var headJSON: JSON {
            [
                "sound": .bool(isSound), "entries": .integer(Int64(entriesFolded)),
                "checkpoints": .integer(Int64(checkpointsCompared)),
                "findings": .array(
                    findings.map { ["place": .string("\($0.place)"), "what": .string($0.what)] }),
                "notCompared": .array(notCompared.map { .string($0) }),
            ]
        }
    }

    extension JSON {
        /// Files as an answer has them.
        static func files(_ files: [(name: String, bytes: [UInt8])]) -> JSON {
            .array(
                files.map { file in
                    [
                        "name": .string(file.name),
                        "text": .string(String(decoding: file.bytes, as: UTF8.self)),
                    ]
                })
        }
    }
#endif
