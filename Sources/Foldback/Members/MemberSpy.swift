#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Notes the members that a type asks for while it is decoded from JSON.
///
/// It stands between the type and Foundation's decoder, which still does all the work. So values
/// that this decoder treats in a way of its own, such as dates and URLs, are decoded as always.
struct MemberSpy {
    /// Decodes a value, returns it, and adds the members that it asks for to `shape`.
    ///
    /// - Throws: the error of decoding. The shape then has the members before it.
    static func decode<Value: Decodable>(
        _: Value.Type, from bytes: [UInt8], noting shape: MemberShape
    ) throws -> Value {
        let decoder = JSONDecoder()
        let box = Box(shape)
        decoder.userInfo[Box.key] = box
        return try decoder.decode(Spied<Value>.self, from: Data(bytes)).value
    }

    /// Hands the shape to the next ``Spied`` value, because decoding passes nothing else.
    ///
    /// `@unchecked Sendable`: one call of `decode` uses it, on one thread.
    fileprivate final class Box: @unchecked Sendable {
        static let key = CodingUserInfoKey(rawValue: "foldback.members")!
        var shape: MemberShape

        init(_ shape: MemberShape) { self.shape = shape }
    }

    /// A value whose decoder is watched.
    fileprivate struct Spied<Value: Decodable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            guard let box = decoder.userInfo[Box.key] as? Box else {
                preconditionFailure("a value is spied on outside of MemberSpy.decode")
            }
            value = try Value(from: Watched(decoder: decoder, box: box, shape: box.shape))
        }
    }

    /// What all watched decoders and containers have.
    fileprivate struct Notes {
        let box: Box
        let shape: MemberShape

        /// Reads a value with this shape. Foundation's decoder reads its own types by their type,
        /// so it must see them.
        func read<Value: Decodable>(
            _: Value.Type, as shape: MemberShape, _ plain: () throws -> Value,
            _ spied: () throws -> Spied<Value>
        ) throws -> Value {
            guard !(Value.self is any SpecialValue.Type) else { return try plain() }
            box.shape = shape
            return try spied().value
        }
    }

    fileprivate struct Watched: Decoder {
        let decoder: any Decoder
        let notes: Notes

        init(decoder: any Decoder, box: Box, shape: MemberShape) {
            self.decoder = decoder
            notes = Notes(box: box, shape: shape)
        }

        var codingPath: [any CodingKey] { decoder.codingPath }
        var userInfo: [CodingUserInfoKey: Any] { decoder.userInfo }

        func container<Key>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(
                Keyed(container: try decoder.container(keyedBy: Key.self), notes: notes))
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
            Unkeyed(container: try decoder.unkeyedContainer(), notes: notes)
        }

        func singleValueContainer() throws -> any SingleValueDecodingContainer {
            Single(container: try decoder.singleValueContainer(), notes: notes)
        }
    }

    fileprivate struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let container: KeyedDecodingContainer<Key>
        let notes: Notes

        var codingPath: [any CodingKey] { container.codingPath }

        var allKeys: [Key] {
            let keys = container.allKeys
            // A type asks for all names of a dictionary. The keys of an enum leave out the names
            // that it does not know, and are the members that it has.
            let isEnum = keys.first.map { Mirror(reflecting: $0).displayStyle == .enum }
            if isEnum ?? (Key(stringValue: "\u{1}any name\u{1}") == nil) {
                for key in keys { _ = shape(key) }
            } else {
                _ = notes.shape.value()
            }
            return keys
        }

        private func shape(_ key: any CodingKey) -> MemberShape {
            let name = ExactString(key.stringValue)
            let isOwn = notes.shape.members[name] != nil
            return isOwn || notes.shape.values == nil
                ? notes.shape.member(name) : notes.shape.value()
        }

        func contains(_ key: Key) -> Bool {
            _ = shape(key)
            return container.contains(key)
        }

        func decodeNil(forKey key: Key) throws -> Bool {
            _ = shape(key)
            return try container.decodeNil(forKey: key)
        }

        func decode<T: Decodable>(_: T.Type, forKey key: Key) throws -> T {
            try notes.read(
                T.self, as: shape(key), { try container.decode(T.self, forKey: key) },
                { try container.decode(Spied<T>.self, forKey: key) })
        }

        func nestedContainer<NestedKey>(
            keyedBy _: NestedKey.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<NestedKey> {
            let shape = shape(key)
            let nested = try container.nestedContainer(keyedBy: NestedKey.self, forKey: key)
            return KeyedDecodingContainer(
                Keyed<NestedKey>(
                    container: nested, notes: Notes(box: notes.box, shape: shape)))
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            let shape = shape(key)
            return Unkeyed(
                container: try container.nestedUnkeyedContainer(forKey: key),
                notes: Notes(box: notes.box, shape: shape))
        }

        func superDecoder() throws -> any Decoder {
            Watched(
                decoder: try container.superDecoder(), box: notes.box,
                shape: notes.shape.member("super"))
        }

        func superDecoder(forKey key: Key) throws -> any Decoder {
            let shape = shape(key)
            return Watched(
                decoder: try container.superDecoder(forKey: key), box: notes.box, shape: shape)
        }
    }

    fileprivate struct Unkeyed: UnkeyedDecodingContainer {
        var container: any UnkeyedDecodingContainer
        let notes: Notes

        var codingPath: [any CodingKey] { container.codingPath }
        var count: Int? { container.count }
        var isAtEnd: Bool { container.isAtEnd }
        var currentIndex: Int { container.currentIndex }

        mutating func decodeNil() throws -> Bool { try container.decodeNil() }

        mutating func decode<T: Decodable>(_: T.Type) throws -> T {
            let shape = notes.shape.element()
            guard !(T.self is any SpecialValue.Type) else {
                return try container.decode(T.self)
            }
            notes.box.shape = shape
            return try container.decode(Spied<T>.self).value
        }

        mutating func nestedContainer<NestedKey>(
            keyedBy _: NestedKey.Type
        ) throws -> KeyedDecodingContainer<NestedKey> {
            KeyedDecodingContainer(
                Keyed<NestedKey>(
                    container: try container.nestedContainer(keyedBy: NestedKey.self),
                    notes: Notes(box: notes.box, shape: notes.shape.element())))
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            Unkeyed(
                container: try container.nestedUnkeyedContainer(),
                notes: Notes(box: notes.box, shape: notes.shape.element()))
        }

        mutating func superDecoder() throws -> any Decoder {
            Watched(
                decoder: try container.superDecoder(), box: notes.box,
                shape: notes.shape.element())
        }
    }

    fileprivate struct Single: SingleValueDecodingContainer {
        let container: any SingleValueDecodingContainer
        let notes: Notes

        var codingPath: [any CodingKey] { container.codingPath }

        func decodeNil() -> Bool { container.decodeNil() }

        func decode<T: Decodable>(_: T.Type) throws -> T {
            try notes.read(
                T.self, as: notes.shape, { try container.decode(T.self) },
                { try container.decode(Spied<T>.self) })
        }
    }
}

/// A type without members in JSON. Foundation's decoder reads some of them in a way of its own.
private protocol SpecialValue {}

extension Bool: SpecialValue {}
extension String: SpecialValue {}
extension Double: SpecialValue {}
extension Float: SpecialValue {}
extension Int: SpecialValue {}
extension Int8: SpecialValue {}
extension Int16: SpecialValue {}
extension Int32: SpecialValue {}
extension Int64: SpecialValue {}
extension UInt: SpecialValue {}
extension UInt8: SpecialValue {}
extension UInt16: SpecialValue {}
extension UInt32: SpecialValue {}
extension UInt64: SpecialValue {}
extension Date: SpecialValue {}
extension Data: SpecialValue {}
extension URL: SpecialValue {}
extension Decimal: SpecialValue {}
