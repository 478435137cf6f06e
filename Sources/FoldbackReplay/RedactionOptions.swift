#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    /// How an export is redacted.
    struct RedactionOptions: ParsableArguments {
        @Option(
            help:
                "A place in events, also in those of `all`, that is written over, as /value/title; again for more."
        )
        var redact: [String] = []

        @Option(help: "A document's key whose values are written over in all events.")
        var redactKey: [String] = []

        @Option(
            help:
                "A place in events that is kept; everything else is written over. /nothing keeps nothing."
        )
        var keep: [String] = []

        static let discussion = """
            What is written over: a text by its pseudonym, the same for the same text; a number by 1, 0 or -1 by \
            its sign; truth by false. Any redaction writes over messages of rejections, values of info and once keys \
            as well. With --redact and --redact-key all that names things stays: replicas, codes of rejections, names \
            of info and of members, document keys. With --keep these are pseudonyms too, but for names of members \
            that a --keep mentions, and for all of them in events of an app, which could not be read otherwise (a \
            dictionary's keys are such names). Times, numbers of intents and positions, and ids made of a replica's \
            name stay. Events have to be JSON.
            """

        var isNeeded: Bool { !(redact.isEmpty && redactKey.isEmpty && keep.isEmpty) }

        func validate() throws { for text in redact + keep { _ = try JSONPointer(argument: text) } }

        private func rules() throws -> [Redactor.Rule] {
            try redact.map { .redact(try JSONPointer(argument: $0)) }
                + redactKey.map { .redactKey(ExactString($0)) }
                + keep.map { .keep(try JSONPointer(argument: $0)) }
        }

        /// Says on standard error what each rule did, and whether the history still means the same.
        ///
        /// - Throws: where a rule did nothing, so that what it was meant for would leave in clear.
        func redacted(
            _ history: RecordedHistory<[UInt8]>, _ projection: ReplayProjection,
            _ all: [ReplayProjection]
        ) throws -> RecordedHistory<[UInt8]> {
            guard redactKey.isEmpty || projection.view.isOverDocuments else {
                throw ValidationError(
                    "--redact-key is for logs of documents, and \(projection.name) is not over them; use "
                        + "--redact or --keep")
            }
            let redactor = Redactor(
                rules: try rules(), isOverDocuments: projection.view.isOverDocuments)
            let redacted = try Progress.run("redacting") { try redactor.redacted(history) }
            for (rule, count) in redacted.counts where count == 0 {
                if case .keep = rule { continue }
                throw ValidationError(
                    "\(rule) is nowhere in the log's events; nothing was written")
            }
            for (rule, count) in redacted.counts { Output.note("\(rule): \(count)") }
            for projection in all {
                let change = Progress.run("comparing") {
                    projection.view.deviation(of: redacted.history, from: history)
                }
                guard let change else { continue }
                Output.note(
                    "the redacted log does not behave as the log does: \(projection.name): \(change)"
                )
            }
            return redacted.history
        }
    }
#endif
