import Foldback
import FoldbackExamples
import FoldbackUI

/// Why the photo of a draft was not sent.
struct UnsentPhoto: Equatable {
    let reason: String
    /// Whether it is sent again when the network is back.
    let isUnreachable: Bool
}

/// A post with a photo is a draft until its photo has arrived (F22): in the log and in the feed, and
/// not sent. So its text outlives a failed upload and the end of the process.
extension FeedScreen {
    /// The photo that was sent last.
    struct Upload {
        let draft: IntentNumber
        let request: FetchModel<Void, ServerFailure>
        /// Whether the photo has arrived, and the draft is released or could not be.
        var isOver = false
    }

    func post(photo text: String, _ initiator: Initiator) async throws -> IntentNumber {
        let color = Seeds.color(text.utf8.count)
        return try await perform(.postedPhoto(text, color: color), initiator, held: true)
    }

    /// Sends the photos of the drafts, one after another. Called after everything that may change
    /// which drafts there are.
    func followDrafts(by initiator: Initiator) {
        let drafts = replica.sync.status.outbox.held
        unsentPhotos = unsentPhotos.filter { drafts.contains($0.key) }
        if let upload, !drafts.contains(upload.draft), !upload.request.data.isSuccess {
            // The draft was withdrawn.
            upload.request.cancel()
            upload.request.progress.finish()
            if upload.isOver { self.upload = nil }
        }
        guard upload?.isOver ?? true, let next = drafts.first(where: { unsentPhotos[$0] == nil })
        else { return }
        sendPhoto(of: next, initiator)
        publisher.rewriteMarks()
    }

    private func sendPhoto(of draft: IntentNumber, _ initiator: Initiator) {
        let intent = replica.store.overlay.first { $0.number == draft }
        guard case .postedPhoto(let text, _)? = intent?.event?.did else { return }
        let wait = Wait("sending the photo", initiator: initiator, style: .bar)
        let request = request("upload", wait) { [calls] report throws(ServerFailure) in
            try await calls.upload(text, report)
        }
        upload = Upload(draft: draft, request: request)
        Task {
            await request.waitUntilIdle()
            await end(request, of: draft)
        }
    }

    /// Releases the draft if its photo has arrived, and goes on with the next.
    private func end(_ request: FetchModel<Void, ServerFailure>, of draft: IntentNumber) async {
        switch request.data {
        case .success:
            do { try await model.release(draft) } catch {
                unsentPhotos[draft] = UnsentPhoto(reason: "\(error)", isUnreachable: false)
            }
        case .failure(let failure):
            let isUnreachable = if case .unreachable = failure { true } else { false }
            unsentPhotos[draft] = UnsentPhoto(
                reason: failure.words, isUnreachable: isUnreachable)
        case .notAsked, .loading:
            unsentPhotos[draft] = UnsentPhoto(reason: "It was canceled.", isUnreachable: false)
        }
        upload?.isOver = true
        followDrafts(by: .app)
        publisher.rewriteMarks()
    }

    /// The network is back.
    func retryUnreachable() {
        unsentPhotos = unsentPhotos.filter { !$0.value.isUnreachable }
        followDrafts(by: .app)
    }

    func sendPhotoAgain(_ initiator: Initiator) {
        if let upload { unsentPhotos[upload.draft] = nil }
        followDrafts(by: initiator)
    }
}
