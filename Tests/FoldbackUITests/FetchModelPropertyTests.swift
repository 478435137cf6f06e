import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Question: does a model show what its latest request says, however the answers and reports of all
/// requests interleave? The server answers when it likes, also to requests that were canceled.
///
/// Property (U8): after each step, state and wait are those of a reader that ignores all requests
/// except the latest. During a hold, a request that runs is the latest until its answer, and a
/// request that was asked for in the meantime begins after both.
@MainActor @Suite struct FetchModelPropertyTests {
    @Test func `U8: a model shows what its latest request says, in any interleaving`()
        async throws
    {
        let first = testSeed("fetch models", variable: "FETCH_MODEL_SEED")
        for seed in first..<first + TestEffort.value(quick: 150, full: 300) {
            var choices = Choices(seed: seed)
            guard await Self.finding(&choices) != nil else { continue }
            let result = await Shrinker(candidatesMax: 500).shrink(
                choices.recording, failing: "it"
            ) { choices in
                await Self.finding(&choices) == nil ? .passes : .fails("it")
            }
            var least = Choices(replaying: result.smallest.values)
            Issue.record("seed \(seed): \(await Self.finding(&least) ?? "it passes now")")
            return
        }
    }

    /// Plays random steps; nil if the model is always right.
    private static func finding(_ choices: inout Choices) async -> String? {
        let steps = (try? FetchModelStep.lists.generate(from: &choices)) ?? []
        let play = FetchModelPlay()
        for step in steps {
            if let finding = await play.perform(step) { return finding }
        }
        return await play.finish()
    }
}

/// What happens to a model. Requests are counted back from the newest.
private enum FetchModelStep: Sendable, CustomStringConvertible {
    case ask
    case refresh
    case cancel
    case invalidate
    case pause
    case resume
    case answer(Int?, request: Int)
    case report(request: Int)
    case cause(WaitCause, request: Int)

    static let lists = Generator<[FetchModelStep]>.arrays(of: steps, count: 0...15)

    private static let steps: Generator<FetchModelStep> = .weighted(
        (2, .constant(.ask)), (3, .constant(.refresh)), (1, .constant(.cancel)),
        (1, .constant(.invalidate)), (2, .constant(.pause)), (2, .constant(.resume)),
        (
            5,
            .making(
                { .answer($0, request: $1) }, .element(of: [nil, 1, 2, 3]), .integers(in: 0...3))
        ),
        (2, .making({ .report(request: $0) }, .integers(in: 0...3))),
        (
            2,
            .making(
                { .cause($0, request: $1) }, .element(of: [.unknown, .signedOut]),
                .integers(in: 0...3))
        ))

    var description: String {
        switch self {
        case .ask: "ask"
        case .refresh: "refresh"
        case .cancel: "cancel"
        case .invalidate: "invalidate"
        case .pause: "pause"
        case .resume: "resume"
        case .answer(let value, let request):
            "answer(\(value.map { "\($0)" } ?? "no"), -\(request))"
        case .report(let request): "report(-\(request))"
        case .cause(let cause, let request): "cause(\(cause), -\(request))"
        }
    }
}

/// What a view shows of a model, computed from the latest request alone.
private struct FetchModelView: Equatable {
    var value: Int?
    var failure: RequestError?
    /// The number of the request that runs.
    var current: Int?
    var isOnHold = false
    /// Whether a request waits for the end of the hold, and no request runs.
    var isHeldBack = false
    /// Whether a request was asked for while another ran during the hold.
    var isOutdated = false
    var reported = WaitCause.unknown
    var attempts = 0
    var fraction: Double?
    var end: ProgressEnd?

    var isIdle: Bool { current == nil && !isHeldBack }

    /// Nil if the request in progress is not paused.
    var cause: WaitCause? {
        isOnHold ? .offline : reported == .unknown ? nil : reported
    }

    var data: Sample {
        if let value { return .success(value) }
        if !isIdle { return .loading }
        return failure.map { .failure($0) } ?? .notAsked
    }
}

@MainActor private final class FetchModelPlay {
    private let clock = ManualClock()
    private let server = FetchServer()
    private let model: FetchModel<Int, RequestError>
    private var view = FetchModelView()
    private var answered: Set<Int> = []
    private var begun = 0
    private var reports = 0
    private var story = ""

    init() { model = FetchModel(.loading, sources: clock.sources, server.fetch) }

    func perform(_ step: FetchModelStep) async -> String? {
        story += "\(step)\n"
        switch step {
        case .ask:
            model.ask()
            if view.isIdle { await begin() }
        case .refresh:
            model.refresh()
            await begin()
        case .invalidate:
            model.invalidate()
            if !view.isIdle { await begin() }
        case .pause:
            model.pause(.offline)
            view.isOnHold = true
        case .resume:
            model.resume()
            view.isOnHold = false
            if view.isOutdated { await begin() } else if view.isHeldBack { await run() }
        case .cancel:
            model.cancel()
            if !view.isIdle { view.end = .cancelled }
            (view.current, view.isHeldBack, view.isOutdated) = (nil, false, false)
        case .answer(let value, let back):
            guard back < begun, answered.insert(begun - 1 - back).inserted else { return nil }
            await answer(value, begun - 1 - back)
        case .report(let back):
            guard back < begun else { return nil }
            reports += 1
            let (call, fraction) = (begun - 1 - back, Double(reports) / 128)
            server.report(call) { $0.fraction(fraction) }
            if call == view.current { view.fraction = fraction }
        case .cause(let cause, let back):
            guard back < begun else { return nil }
            let call = begun - 1 - back
            server.report(call) { $0.cause(cause) }
            if call == view.current { view.reported = cause }
        }
        return await difference()
    }

    /// Answers all requests, the oldest first.
    func finish() async -> String? {
        for call in 0..<begun where answered.insert(call).inserted { await answer(9, call) }
        return await difference()
    }

    private func begin() async {
        (view.end, view.fraction) = (nil, nil)
        guard !view.isOnHold || view.current == nil else {
            view.isOutdated = true
            return
        }
        (view.current, view.isOutdated, view.reported) = (nil, false, .unknown)
        view.attempts += 1
        if view.isOnHold { view.isHeldBack = true } else { await run() }
    }

    /// Waits for the call of the latest request.
    private func run() async {
        (view.current, view.isHeldBack) = (begun, false)
        begun += 1
        await server.waitForCalls(begun)
        // The indicator appears, so a fraction can be seen.
        clock.advance(by: .seconds(1))
    }

    private func answer(_ value: Int?, _ call: Int) async {
        await server.answer(call, value.map { .success($0) } ?? .failure("no"))
        // Nobody can see that a late answer was ignored.
        for _ in 0..<20 { await Task.yield() }
        guard call == view.current else { return }
        view.current = nil
        if let value {
            (view.value, view.failure, view.attempts, view.end) = (value, nil, 0, .succeeded)
        } else {
            (view.failure, view.end) = ("no", .failed(Recovery(reason: "no")))
        }
        if view.isOutdated { await begin() }
    }

    /// Waits until the model shows the view; else returns what it shows.
    private func difference() async -> String? {
        for _ in 0..<2_000 {
            if isShown { return nil }
            await Task.yield()
        }
        return "\(model.state), \(model.progress.appearance as Any)\ninstead of \(view)\n\(story)"
    }

    private var isShown: Bool {
        guard model.data == view.data, model.state.lastFailure == view.failure else {
            return false
        }
        let seen = model.progress.appearance
        guard !view.isIdle else {
            return model.state.activity == .idle && (seen == nil || seen?.phase.end == view.end)
        }
        switch model.state.activity {
        case .idle: return false
        case .fetching(_, let attempt):
            guard attempt == view.attempts, view.cause == nil else { return false }
        case .paused(let cause):
            guard cause == view.cause else { return false }
        }
        // An indicator that continues after a restart begins with nothing done.
        return seen?.phase.end == nil && seen?.fraction ?? 0 == view.fraction ?? 0
    }
}

extension ProgressPhase {
    fileprivate var end: ProgressEnd? {
        if case .ended(let end) = self { end } else { nil }
    }
}
