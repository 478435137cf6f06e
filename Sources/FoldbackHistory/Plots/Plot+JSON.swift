import Foldback

extension Plot {
    /// The plot as the command line prints it with `--json`: the numbers, not their drawing.
    package var json: JSON {
        [
            "title": .string(title), "x": x.json, "y": y.json,
            "series": .array(
                series.map { series in
                    [
                        "name": .string(series.name), "shape": .string(series.shape.rawValue),
                        "points": .array(
                            series.points.map { .array([.number($0.x), .number($0.y)]) }),
                    ]
                }),
            "marks": .array(marks.map { ["x": .number($0.x), "label": .string($0.label)] }),
            "description": .string(description),
        ]
    }
}

extension Plot.Axis {
    fileprivate var json: JSON {
        [
            "label": .string(label), "scale": .string(scale.rawValue),
            "numbers": .string(numbers.rawValue),
        ]
    }
}

extension JSON {
    fileprivate static func number(_ value: Double) -> JSON {
        Int64(exactly: value).map { .integer($0) } ?? .double(value)
    }
}
