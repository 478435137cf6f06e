extension Generator where Value == String {
    /// Difficult strings: besides plain ASCII, text in forms that compare equal and differ in
    /// bytes, characters of many scalars, controls, and characters that formats must escape.
    ///
    /// Shrinks toward "", then "a".
    public static func strings() -> Generator { strings(count: 0...12) }

    /// - Parameter count: how many pieces. A piece is a character or a part of a character.
    public static func strings(count: ClosedRange<Int>) -> Generator {
        Generator { choices in
            try choices.span { choices in
                var string = ""
                try choices.repeating(count) { choices in
                    string += piece(from: &choices)
                    return true
                }
                return string
            }
        }
    }

    private static func piece(from choices: inout Choices) -> String {
        func one(of pieces: [String]) -> String {
            pieces[Int(choices.draw(upTo: UInt64(pieces.count - 1), .uniform))]
        }
        switch choices.draw(upTo: 2, kindsOfPieces) {
        case 0: return one(of: plainPieces)
        case 1: return one(of: difficultPieces)
        default:
            // All scalars: surrogates are not scalars.
            let place = UInt32(choices.draw(upTo: 0x10_FFFF - 0x800, .edges([0x7F, 0xFFFF])))
            guard let scalar = Unicode.Scalar(place < 0xD800 ? place : place + 0x800) else {
                preconditionFailure("\(place) is not the place of a scalar")
            }
            return String(Character(scalar))
        }
    }
}

private let kindsOfPieces = Choices.Bias.weights([6, 3, 1])

/// Printable ASCII, "a" first.
private let plainPieces: [String] =
    "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    .map { String($0) }

private let difficultPieces: [String] = [
    // Formats escape these or cut text there: quotes, backslash, line ends, NUL and other controls.
    "\"", "\\", "\n", "\r\n", "\r", "\t", "\0", "\u{1}", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}",
    // Equal as characters, not as bytes: e with acute, A with ring and the Angstrom sign, a
    // syllable of Hangul, the ligature that compatibility takes apart.
    "\u{E9}", "e\u{301}", "\u{C5}", "A\u{30A}", "\u{212B}", "\u{AC00}", "\u{1100}\u{1161}",
    "\u{FB01}",
    // Marks in either order, alone, and far too many.
    "a\u{323}\u{307}", "a\u{307}\u{323}", "\u{301}", "\u{20DD}",
    "a" + String(repeating: "\u{301}", count: 40),
    // One character of many scalars, parts of it, and flags.
    "\u{1F600}", "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}",
    "\u{1F44D}\u{1F3FD}",
    "\u{200D}", "\u{FE0F}", "\u{1F1E9}\u{1F1EA}", "\u{1F1E9}",
    // Text from right to left, and controls of the direction.
    "\u{5D0}", "\u{5D1}", "\u{627}", "\u{202E}", "\u{200F}",
    // Letters without exact case pairs: dotted and dotless i, sharp s, both sigmas.
    "\u{130}", "\u{131}", "I", "i", "\u{DF}", "\u{1E9E}", "\u{3C3}", "\u{3C2}",
    // Invisible or misleading characters.
    "\u{A0}", "\u{200B}", "\u{AD}", "\u{3000}", "\u{FEFF}", "\u{430}",
    // Edges of encodings.
    "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}",
    "\u{10000}", "\u{10FFFF}",
]
