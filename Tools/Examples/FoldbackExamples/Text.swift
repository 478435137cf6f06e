import Foldback

/// One keystroke or several: patches that are applied one after the other.
package struct Edit: Sendable, Equatable {
    package struct Patch: Sendable, Equatable {
        /// The number of Unicode code points before the patch.
        package let position: Int
        package let deletedCount: Int
        package let inserted: String

        package init(position: Int, deletedCount: Int, inserted: String) {
            self.position = position
            self.deletedCount = deletedCount
            self.inserted = inserted
        }
    }

    package let patches: [Patch]

    package init(patches: [Patch]) { self.patches = patches }
}

/// A text that a user types: the projection of the demo's session.
///
/// The text consists of pieces of at most 1,024 code points. So a published view shares with the
/// next view all pieces that did not change.
package struct Text: Projection {
    private static let pieceCountMax = 1_024

    private var pieces: [ContiguousArray<Unicode.Scalar>] = []
    package private(set) var count = 0

    package static var codec: any EventCodec<Edit> { EditCodec() }
    package static var stateCodec: (any StateCodec<Text>)? { TextCodec() }

    package init() {}

    package init(_ string: String) {
        let scalars = Array(string.unicodeScalars)
        count = scalars.count
        let size = Self.pieceCountMax / 2
        pieces = stride(from: 0, to: scalars.count, by: size).map {
            ContiguousArray(scalars[$0..<min($0 + size, scalars.count)])
        }
    }

    package var string: String {
        var scalars = String.UnicodeScalarView()
        for piece in pieces { scalars.append(contentsOf: piece) }
        return String(scalars)
    }

    package mutating func apply(_ edit: Edit, _ context: EventContext) throws {
        try check(edit)
        for patch in edit.patches { replace(patch) }
    }

    /// Throws before the first change, because an edit is applied as a whole or not at all (F9).
    private func check(_ edit: Edit) throws {
        var length = count
        for patch in edit.patches {
            guard patch.position >= 0, patch.deletedCount >= 0,
                patch.position + patch.deletedCount <= length
            else { throw OutOfText(patch: patch, length: length) }
            length += patch.inserted.unicodeScalars.count - patch.deletedCount
        }
    }

    private mutating func replace(_ patch: Edit.Patch) {
        var (index, offset) = place(of: patch.position)
        var remaining = patch.deletedCount
        while remaining > 0 {
            let count = min(remaining, pieces[index].count - offset)
            pieces[index].removeSubrange(offset..<offset + count)
            remaining -= count
            guard pieces[index].isEmpty || remaining > 0 else { break }
            if pieces[index].isEmpty { pieces.remove(at: index) } else { index += 1 }
            offset = 0
        }
        let inserted = patch.inserted.unicodeScalars
        count += inserted.count - patch.deletedCount
        guard !inserted.isEmpty else { return }
        if index == pieces.count {
            pieces.append([])
            offset = 0
        }
        pieces[index].insert(contentsOf: inserted, at: offset)
        if pieces[index].count > Self.pieceCountMax { split(index) }
    }

    /// The piece with the position, and the offset in it. A position after the last code point is
    /// the end of the last piece.
    private func place(of position: Int) -> (index: Int, offset: Int) {
        var offset = position
        for index in pieces.indices {
            if offset < pieces[index].count { return (index, offset) }
            offset -= pieces[index].count
        }
        return pieces.isEmpty ? (0, 0) : (pieces.count - 1, pieces[pieces.count - 1].count + offset)
    }

    private mutating func split(_ index: Int) {
        let piece = pieces[index]
        let size = Self.pieceCountMax / 2
        let parts = stride(from: 0, to: piece.count, by: size).map {
            ContiguousArray(piece[$0..<min($0 + size, piece.count)])
        }
        pieces.replaceSubrange(index...index, with: parts)
    }
}

/// A patch is outside of the text.
package struct OutOfText: Error, CustomStringConvertible {
    package let patch: Edit.Patch
    package let length: Int
    package var description: String {
        "\(patch.position) + \(patch.deletedCount) is after the end of the text, which has \(length) code points"
    }
}

/// Edits as `[[position, deleted, "inserted"], …]`, the format of editing traces.
package struct EditCodec: EventCodec {
    package let format = EventFormat(codec: 128, version: 1)

    package func encode(_ edit: Edit) throws -> [UInt8] { edit.json.encoded }

    package func decode(_ bytes: RawSpan, format: EventFormat) throws -> Edit {
        try Edit(json: JSON(parsing: bytes.withUnsafeBytes { Array($0) }))
    }
}

extension Edit {
    package var json: JSON {
        .array(
            patches.map {
                [
                    .integer(Int64($0.position)), .integer(Int64($0.deletedCount)),
                    .string($0.inserted),
                ]
            })
    }

    package init(json: JSON) throws {
        guard let elements = json.arrayValue else {
            throw EditError(description: "the patches are not an array, but \(json)")
        }
        patches = try elements.map { element in
            guard let fields = element.arrayValue, fields.count == 3,
                let position = fields[0].integerValue.flatMap(Int.init(exactly:)),
                let deleted = fields[1].integerValue.flatMap(Int.init(exactly:)),
                let inserted = fields[2].stringValue
            else {
                throw EditError(
                    description: "a patch is not [position, deleted, \"inserted\"], but \(element)")
            }
            return Patch(position: position, deletedCount: deleted, inserted: inserted)
        }
    }
}

/// The text in checkpoints, as UTF-8.
package struct TextCodec: StateCodec {
    package func encode(_ state: Text) throws -> [UInt8] { Array(state.string.utf8) }

    package func decode(_ bytes: RawSpan) throws -> Text {
        Text(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }
}

/// JSON that is not an edit.
package struct EditError: Error, CustomStringConvertible {
    package let description: String
}
