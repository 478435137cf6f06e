import NIOCore
import NIOHTTPTypes

/// Ends a body that is not here in time, with ``Passed`` for its reader.
///
/// Most bodies come together with their heads. Only the others get a timer, because a child task and a
/// sleep for each body took a seventh of a server's time when many devices sent single intents.
final class BodyDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    struct Passed: Error {}

    /// The longest time in which a body must be here.
    static let time = TimeAmount.seconds(20)

    private var isReading = false
    /// When the body that is read now must be here; nil if it has no timer.
    private var deadline: NIODeadline?
    /// The only timer of the connection. It can be that of an earlier body.
    private var timer: Scheduled<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: (isReading, deadline) = (true, nil)
        case .body: break
        case .end: (isReading, deadline) = (false, nil)
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isReading, deadline == nil {
            let deadline = NIODeadline.now() + Self.time
            self.deadline = deadline
            if timer == nil { setTimer(at: deadline, context) }
        }
        context.fireChannelReadComplete()
    }

    private func setTimer(at time: NIODeadline, _ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            timer = nil
            guard let deadline else { return }
            if deadline > .now() { return setTimer(at: deadline, context) }
            context.fireErrorCaught(Passed())
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }
}
