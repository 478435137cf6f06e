#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    /// The rules for the redaction of an export.
    struct RedactionOptions: ParsableArguments {
        @Option(
            help:
                "Redacts a place in events, also in events of `all`, such as /value/title; repeatable."
        )
        var redact: [String] = []

        @Option(help: "Redacts the values of the document with this key in all events; repeatable.")
        var redactKey: [String] = []

        @Option(
            help:
                "Keeps a place in events and redacts everything else; repeatable. /nothing keeps nothing."
        )
        var keep: [String] = []

        static let discussion = """
            Redaction replaces a text by its pseudonym (the same text gets the same pseudonym), a \
            number by 1, 0 or -1 according to its sign, and a Boolean by false. Every redaction \
            also replaces rejection messages, values of info and once keys. With --redact and \
            --redact-key, names stay: replicas, rejection codes, names of info and of members, and \
            document keys. With --keep, pseudonyms replace them too. Two kinds of member names \
            stay: those in a --keep, and all of them in events of an app, which could not be read \
            without them (a dictionary's keys are such names). Times, numbers of intents and \
            positions stay. An id made from a replica's name stays if that name stays. The name of \
            the log's file stays, so give the file another name if it tells too much. Events must \
            be JSON.
            """

        var isNeeded: Bool { !(redact.isEmpty && redactKey.isEmpty && keep.isEmpty) }

        func validate() throws { for text in redact + keep { _ = try JSONPointer(argument: text) } }

        private func rules() throws -> [Redactor.Rule] {
            try redact.map { .redact(try JSONPointer(argument: $0)) }
                + redactKey.map { .redactKey(ExactString($0)) }
                + keep.map { .keep(try JSONPointer(argument: $0)) }
        }

        /// Returns the redacted history. Reports on standard error how often each rule matched, and
        /// whether the history behaves differently now.
        ///
        /// - Throws: if a rule matches nothing, because the data that it was meant for would not be
        ///   redacted.
        func redacted(
            _ history: RecordedHistory<[UInt8]>, _ projection: ReplayProjection,
            _ all: [ReplayProjection]
        ) throws -> RecordedHistory<[UInt8]> {
            guard redactKey.isEmpty || projection.view.isOverDocuments else {
                throw ValidationError(
                    "--redact-key is only for logs of documents, and \(projection.name) does not read documents; "
                        + "use --redact or --keep")
            }
            let redactor = Redactor(
                rules: try rules(), isOverDocuments: projection.view.isOverDocuments)
            let redacted = try Progress.run("redacting") { try redactor.redacted(history) }
            for (rule, count) in redacted.counts where count == 0 {
                if case .keep = rule { continue }
                throw ValidationError(
                    "\(rule) matches nothing in the log's events; nothing was written")
            }
            for (rule, count) in redacted.counts { Output.note("\(rule): \(count)") }
            for projection in all {
                let change = try Progress.run("comparing") {
                    try projection.view.deviation(of: redacted.history, from: history)
                }
                guard let change else { continue }
                Output.note(
                    "the redacted log behaves differently from the log: \(projection.name): \(change)"
                )
            }
            return redacted.history
        }
    }
#endif
