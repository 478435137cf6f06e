#if Postgres
    import CPostgres

    /// A parameter of a statement, in PostgreSQL's binary form.
    struct Parameter {
        let type: Oid
        let bytes: [UInt8]?

        init(_ text: String?) {
            type = ValueType.text
            bytes = text.map { Array($0.utf8) }
        }

        init(_ number: Int64?) {
            type = ValueType.int8
            bytes = number.map(\.bigEndianBytes)
        }

        /// An array of one dimension: its number of dimensions, whether it has nulls, the type; the count and
        /// the first index; then each element with its length (PostgreSQL's `array_recv`).
        private init(_ elements: [[UInt8]?], of element: Oid, _ type: Oid) {
            self.type = type
            var bytes = Int32(elements.isEmpty ? 0 : 1).bigEndianBytes
            bytes += Int32(elements.contains(nil) ? 1 : 0).bigEndianBytes
            bytes += Int32(bitPattern: element).bigEndianBytes
            if !elements.isEmpty {
                bytes += Int32(elements.count).bigEndianBytes + Int32(1).bigEndianBytes
            }
            for element in elements {
                bytes += Int32(element?.count ?? -1).bigEndianBytes
                bytes += element ?? []
            }
            self.bytes = bytes
        }

        static func texts(_ texts: [String?]) -> Parameter {
            Parameter(texts.map { $0.map { Array($0.utf8) } }, of: ValueType.text, 1_009)
        }

        static func numbers(_ numbers: [Int64?]) -> Parameter {
            Parameter(numbers.map { $0?.bigEndianBytes }, of: ValueType.int8, 1_016)
        }

        static func json(_ texts: [[UInt8]?]) -> Parameter {
            Parameter(texts, of: ValueType.json, 199)
        }

        static func bytes(_ bytes: [[UInt8]?]) -> Parameter {
            Parameter(bytes, of: ValueType.bytes, 1_001)
        }
    }

    /// The numbers of PostgreSQL's types (pg_type.dat), which are fixed.
    private enum ValueType {
        static let bytes: Oid = 17
        static let int8: Oid = 20
        static let text: Oid = 25
        static let json: Oid = 114
    }

    extension [Parameter] {
        func withPointers<T>(
            _ body: (
                UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
            ) -> T
        ) -> T {
            // One block of memory has all values.
            var all: [UInt8] = []
            let starts = map { parameter in
                defer { all += parameter.bytes ?? [] }
                return all.count
            }
            all.append(0)
            return all.withUnsafeBytes { block in
                let start = block.baseAddress!.assumingMemoryBound(to: CChar.self)
                let values = zip(self, starts).map { parameter, offset in
                    parameter.bytes == nil ? nil : Optional(start + offset)
                }
                return body(
                    values, map { Int32($0.bytes?.count ?? 0) }, map { _ in 1 })
            }
        }
    }

    extension FixedWidthInteger {
        var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
    }
#endif
