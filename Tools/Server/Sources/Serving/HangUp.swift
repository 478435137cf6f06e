import NIOCore
import Synchronization

/// Notices that a client is gone while its request waits, and closes connections that are half closed or
/// do not speak HTTP.
///
/// Without it, a poll of a client that is gone would wait until its time is up, and a client that sends
/// endless headers would keep its connection until it is idle.
final class HangUp: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Any

    private struct State {
        /// Whether the client is gone. That may be known before its request has begun to wait.
        var isGone = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Returns what `body` returns. Its task is canceled if the client hangs up.
    func canceling<T: Sendable>(_ body: @escaping @Sendable () async -> T) async -> T {
        let task = Task { await body() }
        let isGone = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isGone
        }
        if isGone { task.cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func end() {
        let cancel = state.withLock { state in
            state.isGone = true
            return state.cancel
        }
        cancel?()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end()
        // What follows answers 400. The client may not read it, so it has a second.
        let channel = context.channel
        context.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            end()
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }
}
