import Foldback
import FoldbackServer
import FoldbackSync
import Foundation

/// `foldback-probe decide DIRECTORY FIRST COUNT BYTES alone|spaces`: 50 devices send intents to a space, each
/// in its own task.
///
/// Each device sends COUNT intents from the number FIRST on, one to four in a request, and often sends a
/// request again together with the next. A text of BYTES bytes is in each event. A device writes a line for
/// each verdict that it received: `DEVICE INTENT VERDICT`.
///
/// If a request fails, the line is `failed DEVICE FAILURE`. With `alone`, the process opens the space
/// itself, and a device ends after a failure. With `spaces`, the space is opened when it is used, and a
/// device tries again. The last line is `done`, or `closed ERROR` if the space cannot be opened.
enum SpaceProbe {
    static let devices = 1...50
    /// The time until a device tries again, and how often it does.
    private static let pause: Duration = .milliseconds(20)
    private static let failuresMax = 1_000

    static func run(_ arguments: ArraySlice<String>) async throws {
        let words = Array(arguments)
        guard words.count == 5, let first = Int(words[1]), let count = Int(words[2]),
            let bytes = Int(words[3])
        else { throw WrongUse() }
        let directory = URL(filePath: words[0], directoryHint: .isDirectory)
        let numbers = first..<first + count
        switch words[4] {
        case "alone":
            let space: Space<TallyRules>
            do throws(LogError) {
                space = try await Space.open(at: directory, rules: TallyRules())
            } catch {
                return say("closed \(error)\n")
            }
            await send(numbers, bytes, failuresMax: 0) { space.authority(for: .of($0)) }
            await space.close()
        case "spaces":
            let spaces = Spaces(in: directory, rules: TallyRules())
            await send(numbers, bytes, failuresMax: failuresMax) {
                spaces.authority(for: .of($0), in: .main)
            }
            await spaces.close()
        default: throw WrongUse()
        }
        say("done\n")
    }

    private static func send<A: Authority<Tallies.Event>>(
        _ numbers: Range<Int>, _ bytes: Int, failuresMax: Int, to authority: (Int) -> A
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for device in devices {
                let authority = authority(device)
                group.addTask {
                    await send(
                        numbers, of: device, bytes, failuresMax: failuresMax, to: authority)
                }
            }
        }
    }

    private static func send(
        _ numbers: Range<Int>, of device: Int, _ bytes: Int, failuresMax: Int,
        to authority: some Authority<Tallies.Event>
    ) async {
        var failures = 0
        var next = numbers.lowerBound
        while next < numbers.upperBound {
            let count = 1 + (device + next) % 4
            let end = min(next + count, numbers.upperBound)
            let start = device % 3 == 0 ? max(1, next - count) : next
            let intents = (start..<end).map { Submission(number: $0, of: device, bytes) }
            do throws(AuthorityFailure) {
                let verdicts = try await authority.submit(
                    intents, from: SyncPoint(lineage: nil, through: 0))
                // One write, so that a kill leaves all lines or none.
                say(
                    intents.map { intent in
                        let verdict = verdicts[intent.id]?.line ?? "nothing"
                        return "\(device) \(intent.id.number) \(verdict)\n"
                    }.joined())
                next = end
            } catch {
                say("failed \(device) \(error.line)\n")
                failures += 1
                guard failures <= failuresMax else { return }
                _ = try? await Task.sleep(for: pause)
            }
        }
    }
}

/// What was applied for each device.
struct Tallies: Projection, Codable, Equatable {
    struct Event: Codable, Hashable, Sendable {
        let device: Int
        let amount: Int
        let text: String
    }

    struct Tally: Codable, Hashable, Sendable {
        var count = 0
        var sum = 0
    }

    var byDevice: [Int: Tally] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        guard event.amount % 13 != 0 else { throw UnluckyAmount() }
        byDevice[event.device, default: Tally()].count += 1
        byDevice[event.device, default: Tally()].sum += event.amount
    }
}

private struct UnluckyAmount: Error, CustomStringConvertible {
    let description = "the amount is a multiple of 13"
}

/// Rules with all final rulings, by the intent's number.
struct TallyRules: Rules {
    func decide(
        _ intent: Submission<Tallies.Event>, by account: Account, on tallies: Tallies,
        at time: Timestamp
    ) -> Ruling<Tallies.Event> {
        let (number, event) = (intent.id.number.value, intent.event)
        if number % 5 == 0 { return .reject(Rejection(code: "fifth", message: "\(intent.id)")) }
        if number % 7 == 0 {
            return .reword(
                Tallies.Event(device: event.device, amount: 2 * event.amount, text: event.text))
        }
        return number % 11 == 0 ? .reword(nil) : .accept
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }

    /// The amount that an intent adds to its device's tally; nil if it adds nothing.
    static func amount(ofIntent number: Int) -> Int? {
        if number % 5 == 0 || number % 13 == 0 { return nil }
        if number % 7 == 0 { return 2 * number }
        return number % 11 == 0 ? nil : number
    }
}

extension Account {
    /// Each user has several devices.
    static func of(_ device: Int) -> Account {
        guard let account = Account("user \(device % 7)") else {
            preconditionFailure("an account was refused")
        }
        return account
    }
}

extension IntentID {
    static func of(device: Int, _ number: Int) -> IntentID {
        guard let replica = ReplicaID("device-\(device)") else {
            preconditionFailure("a replica id was refused")
        }
        return IntentID(replica: replica, number: IntentNumber(UInt64(number)))
    }
}

extension Submission where Event == Tallies.Event {
    /// An intent with the same bytes each time.
    init(number: Int, of device: Int, _ bytes: Int) {
        let event = Event(
            device: device, amount: number, text: String(repeating: "x", count: bytes))
        let codec = Tallies.codec
        guard let encoded = try? codec.encode(event) else {
            preconditionFailure("\(event) cannot be encoded")
        }
        self.init(
            id: .of(device: device, number), event: event,
            recorded: RecordedEvent(format: codec.format, bytes: encoded),
            time: Timestamp(millisecondsSince1970: 0), info: [:])
    }
}

extension AuthorityFailure {
    var line: String {
        guard case .unavailable(_, let reason) = self else { return "otherwise: \(self)" }
        return "unavailable: \(reason)"
    }
}

extension Verdict {
    /// The verdict as a line: equal verdicts have equal lines.
    var line: String {
        switch self {
        case .accepted(let position, nil): "accepted at \(position?.value ?? 0)"
        case .accepted(let position, .recorded(let event)?):
            "accepted at \(position?.value ?? 0) as \(event.bytes.count) bytes "
                + "\(event.bytes.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) })"
        case .accepted(let position, let event?): "accepted at \(position?.value ?? 0) as \(event)"
        case .rejected(let rejection): "rejected \(rejection.code ?? "-") \(rejection.message)"
        case .later(let after, let reason): "later \(String(describing: after)) \(reason)"
        }
    }
}
