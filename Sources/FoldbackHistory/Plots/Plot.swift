/// A plot as a value: axes, series of numbers, and vertical marks. ``svg(_:)`` draws it.
///
/// ```swift
/// let plot = Plot(
///     title: "Pending intents", x: .init("sequence"), y: .init("intents"),
///     series: [.init("pending", .steps, [.init(1, 0), .init(2, 1)])])
/// try Output.write(plot.svg(.file))
/// ```
///
/// A plot contains only numbers and the caller's words. A log's payloads never get into it.
package struct Plot: Sendable, Equatable {
    /// A short title, without a period.
    package var title: String
    package var x: Axis
    package var y: Axis
    package var series: [Series]
    package var marks: [Mark] = []
    /// Sentences with the key figures, for people who do not see the plot.
    package var facts: [String] = []

    package init(
        title: String, x: Axis, y: Axis, series: [Series], marks: [Mark] = [], facts: [String] = []
    ) {
        self.title = title
        self.x = x
        self.y = y
        self.series = series
        self.marks = marks
        self.facts = facts
    }

    /// One point of a series. A bar begins at its `x` and has the height `y`.
    package struct Point: Sendable, Equatable {
        package var x: Double
        package var y: Double

        package init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// A vertical line with a label.
    package struct Mark: Sendable, Equatable {
        package var x: Double
        /// Empty if only the legend names the mark.
        package var label: String

        package init(_ x: Double, _ label: String) {
            self.x = x
            self.label = label
        }
    }

    /// Points that belong together, in ascending order of `x`.
    package struct Series: Sendable, Equatable {
        package enum Shape: String, Sendable {
            /// Straight lines between the points.
            case line
            /// Each value holds up to the next point.
            case steps
            /// A bar from each point to the next. The last point only ends the last bar.
            case bars
        }

        package var name: String
        package var shape: Shape
        package var points: [Point]
        /// The place of the color and the marker's form. Series that belong together share it.
        package var style: Int?
        /// A series to compare with, such as an earlier run. It has thin dashes and hollow markers.
        package var isEarlier = false

        package init(_ name: String, _ shape: Shape, _ points: [Point], style: Int? = nil) {
            self.name = name
            self.shape = shape
            self.points = points
            self.style = style
        }
    }

    /// An axis with its label, scale and kind of numbers.
    package struct Axis: Sendable, Equatable {
        package enum Scale: String, Sendable { case linear, log }

        package enum Numbers: String, Sendable {
            case plain
            /// Whole numbers, so that no tick has a fraction.
            case counts
            case bytes
            /// A length of time in milliseconds.
            case milliseconds
            /// A moment, in milliseconds since 1970.
            case moments
        }

        /// What the numbers are, with the unit.
        package var label: String
        package var scale: Scale
        package var numbers: Numbers

        package init(_ label: String, _ scale: Scale = .linear, _ numbers: Numbers = .plain) {
            self.label = label
            self.scale = scale
            self.numbers = numbers
        }
    }
}

extension Plot {
    /// The facts as one text.
    package var description: String { facts.joined(separator: " ") }

    /// The most points that a series of ``PointSampler`` has.
    package static let pointCountMax = 1_000
}
