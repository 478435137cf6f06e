import Foldback
import FoldbackUI
import Testing

@Suite struct ProgressTextTests {
    private func english(_ text: ProgressText) -> String { ProgressTexts.english.words(for: text) }

    @Test func `U18: the English words of each text`() {
        let life = ProofOfLife(attempt: 2, elapsed: .seconds(65))
        #expect(english(.activity(.saving)) == "Saving")
        #expect(english(.still(.saving, ProofOfLife(), apologizes: false)) == "Still saving")
        #expect(
            english(.still(.saving, ProofOfLife(attempt: 2), apologizes: true))
                == "Still saving, attempt 2. Sorry for the wait.")
        #expect(
            english(.long(.saving, life, remaining: .seconds(60), cause: .unknown))
                == "Still saving, attempt 2, 1 minute 5 seconds, about 1 minute left")
        #expect(
            english(.long(.saving, ProofOfLife(elapsed: .zero), remaining: nil, cause: .unknown))
                == "Still saving, 0 seconds. This takes long.")
        for (seconds, words) in [
            (3_600, "1 hour"), (7_265, "2 hours 1 minute"), (86_400, "1 day"),
            (86_460, "1 day"), (180_000, "2 days 2 hours"),
        ] {
            let life = ProofOfLife(elapsed: .seconds(seconds))
            #expect(
                english(.still(.saving, life, apologizes: false)) == "Still saving, \(words)")
        }
        #expect(
            english(.paused(.saving, ProofOfLife(), .signedOut))
                == "Saving continues when you are signed in")
        #expect(english(.ended(.saving, .cancelled)) == "Canceled saving")
        #expect(
            english(.ended(.saving, .continuedInBackground)) == "Saving continues in the background"
        )
        #expect(
            english(.ended(.saving, .failed(Recovery(reason: "No.", canRestart: false))))
                == "Saving failed. No. Trying again does not help.")
    }

    @Test func `#55: each cause has words, and instructions when the wait has stalled`() {
        let causes: [(WaitCause, String?, String)] = [
            (.unknown, nil, "Check the connection, then try again."),
            (
                .offline, "The device is offline.",
                "Connect the device to a network, then try again."
            ),
            (.slow, "The connection is slow.", "Find a better connection, then try again."),
            (
                .serverBusy(until: nil), "The server is busy.",
                "Wait a few minutes, then try again."
            ),
            (.signedOut, "You are signed out.", "Sign in, then try again."),
            (.failing(reason: "Disk full"), "Disk full.", "Try again later."),
        ]
        for (cause, words, instructions) in causes {
            #expect(
                english(.long(.sending, ProofOfLife(), remaining: nil, cause: cause))
                    == "Still sending. \(words ?? "This takes long.")")
            #expect(
                english(.stalled(.sending, Recovery(cause: cause)))
                    == "Sending has stalled. \(words.map { "\($0) " } ?? "")\(instructions)")
        }
    }

    @Test func `#49: the app has its own words for a kind, and English for the others`() {
        let texts = ProgressTexts { text in
            guard case .activity("boosting") = text else { return nil }
            return "Wird verbreitet"
        }
        #expect(texts.words(for: .activity("boosting")) == "Wird verbreitet")
        #expect(texts.words(for: .activity(.sending)) == "Sending")
    }
}
