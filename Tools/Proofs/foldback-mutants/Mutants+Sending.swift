/// Faults in what is sent, and in what an answer leads to.
let sendingMutants: [Mutant] = [
    Mutant(
        "a failed attempt is not repeated", rule: "A4", law: .p15,
        at: "try-again", .skip()),
    Mutant(
        "an intent is sent under another id", rule: "A1", law: .p15,
        at: "submission-id",
        .value(
            """
            recorded.number.value % 2 == 0
                ? IntentID(
                    replica: recorded.id.replica, number: IntentNumber(recorded.number.value + 100))
                : ORIGINAL
            """)),
    Mutant(
        "an intent is sent before its attempt is recorded", rule: "A5", law: .p15,
        at: "attempts-first", .value("attempts.keys.sorted()")),
    Mutant(
        "a missing verdict settles an intent", rule: "A4", law: .p15,
        at: "no-verdict", .before("replies[id.number] = .settled")),
    Mutant(
        "a postponed intent is rejected", rule: "A4", law: .p15,
        at: "later", .before("try await reject(id.number, message: reason)")),
    Mutant(
        "an intent after a postponed one counts as failed", rule: "N5",
        test: "S1: a postponed intent holds up its lane alone",
        at: "after-later", .replace("hasLater", with: "request.attempts.isEmpty")),
    Mutant(
        "a lane has several requests at once", rule: "S1",
        test: "the outbox keeps its properties under random inputs",
        at: "one-request", .replace("queue.departedCount == 0", with: "queue.departedCount >= 0")),
    Mutant(
        "a drain waits for what a quarantined intent holds up", rule: "S6",
        test: "a drain does not wait for what a quarantined intent holds up",
        at: "stuck-lane", .replace("terms.place.next", with: "LogSequence(.max)")),
    Mutant(
        "sending does not resume after signing in", rule: "A4", law: .p15,
        at: "signed-in", .skip()),
    Mutant(
        "coming online is not noticed", rule: "A4", law: .p15,
        at: "went-online", .skip()),
    Mutant(
        "a quarantined intent is rejected", rule: "S3", law: .p15,
        at: "noted",
        .before(
            """
            for (number, attempt) in attempts where attempt.quarantine != nil {
                _ = try? await store.reject(number, message: "it failed too often")
            }
            """)),
    Mutant(
        "a quarantined intent is not tried again", rule: "S3", law: .p15,
        at: "quarantine-retried",
        .before(
            """
            if intent.attempt?.quarantine != nil { return }
            """)),
    Mutant(
        "a request that fails is never halved", rule: "S3", law: .p15,
        at: "halving", .fails()),
    Mutant(
        "a request has any number of bytes", rule: "S2", law: .p15,
        at: "request-bytes", .fails()),
    Mutant(
        "two outboxes send a store's intents at once", rule: "S4", law: .p15,
        at: "one-sender", .before("if holder != nil { return .entered }")),
    Mutant(
        "one page of changes counts as all of them", rule: "A2", law: .p15,
        at: "last-page", .value("true")),
    Mutant(
        "coming online does not resume fetching", rule: "A2", law: .p15,
        at: "downlink-online", .skip()),
    Mutant(
        "fetching does not resume after signing in", rule: "A2", law: .p15,
        at: "downlink-signed-in", .skip()),
    Mutant(
        "through is one too high", rule: "A2", probe: .nextEvent,
        at: "downlink-through", .value("Position(ORIGINAL.value + 1)")),
    Mutant(
        "the authority applies a decided intent again", rule: "A1", law: .p15,
        at: "authority-repeats", .fails()),
    Mutant(
        "the authority forgets its rejections", rule: "A1", law: .p15,
        at: "verdict-kept", .returns("verdict", if: "case .rejected = verdict")),
    Mutant(
        "the answers of another authority are recorded", rule: "N6", law: .p15,
        at: "lineage", .value("false")),
    Mutant(
        "intents that another authority has continue too", rule: "N6", law: .p15,
        at: "carried-known", .value("work.unsettled")),
    Mutant(
        "a confirmed intent that the new log has settled is brought again", rule: "N6",
        test: "N6: bringing confirmed work again doubles nothing, also what is settled",
        at: "settled-carrier",
        .replace("places[$0]", with: "places[$0]?.filter { !carriers[$0].state.isSettled }")),
    Mutant(
        "an intent of an earlier log that is lost later is not brought", rule: "N6",
        test:
            "N6: an intent that two servers had and the third has lost is brought from its event",
        at: "second-loss", .value("false")),
    Mutant(
        "a new log does not note the intents of the log that it continues", rule: "N6",
        test: "N6: the intents of a log are known through two logs that continue it",
        at: "continued-ids", .skip()),
    Mutant(
        "a new log does not note which intents a later log recorded again", rule: "N6",
        test: "N6: an old kept log does not double what a later log has brought",
        at: "continued-pairs", .skip()),
    Mutant(
        "a brought rejection is sent", rule: "N6",
        test: "N6: a listed rejection comes along in one commit, and is never sent",
        at: "brought-rejection", .returns("result")),
    Mutant(
        "a wipe leaves kept logs", rule: "N6",
        test: "BK7: wiping a log removes its kept logs, and pending intents in them do not stop it",
        at: "wipe-kept", .skip()),
    Mutant(
        "an authority that has lost data without a new lineage is not noticed", rule: "N6",
        probe: .lowHead, at: "low-head", .fails()),
    Mutant(
        "intents of the last moment do not continue", rule: "N6", probe: .lateIntents,
        at: "late-intents", .replace("last", with: "work")),
    Mutant(
        "an intent is sent as this code encodes it", rule: "A1", probe: .sentBytes,
        at: "sent-bytes",
        .replace(
            "$0.recorded",
            with: """
                RecordedIntent(
                    id: $0.recorded.id,
                    payload: (try? P.codec.payload(of: $0.event)) ?? $0.recorded.payload,
                    isConfirmOnly: $0.recorded.isConfirmOnly, once: $0.recorded.once,
                    retries: $0.recorded.retries, info: $0.recorded.info,
                    sequence: $0.recorded.sequence, time: $0.recorded.time)
                """)),
    Mutant(
        "an event that cannot be read stops the downlink", rule: "E4", law: .p15,
        at: "unknown-event",
        .after("if payload.isUnreadable { throw .notEncodable(reason: \"unknown\") }")),
    Mutant(
        "an event in other bytes counts as another event that is the same", rule: "F9", law: .p2,
        at: "canonical-comparison", .value("ORIGINAL || true")),
]
