import Foundation

/// A description of a type by which another process of the same program finds it.
enum ProgramType {
    /// The file of the running program; nil if the system does not name it.
    static var program: URL? {
        #if os(Linux)
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #else
            nil
        #endif
    }

    /// The mangled name of a type. The name of a private or local type cannot be looked up, so such
    /// a type is described by the place of its metadata in the program. Nil if neither is possible.
    static func description(of type: any Any.Type) -> String? {
        if let name = _mangledTypeName(type), !name.contains("$"), _typeByName(name) == type {
            return "name \(name)"
        }
        let address = unsafeBitCast(type, to: UInt.self)
        return isInProgram(address) ? "place \(address &- ChildMain.anchor)" : nil
    }

    static func found(by description: String) -> Any.Type? {
        let parts = description.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        if parts[0] == "name" { return _typeByName(String(parts[1])) }
        guard let place = UInt(parts[1]), isInProgram(place &+ ChildMain.anchor) else {
            return nil
        }
        return unsafeBitCast(place &+ ChildMain.anchor, to: Any.Type.self)
    }

    /// Whether the address is in memory that was loaded from the program's file. Metadata of
    /// generic types are created at run time and are not.
    private static func isInProgram(_ address: UInt) -> Bool {
        guard let program,
            let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        else { return false }
        return maps.split(separator: "\n").contains { line in
            guard line.hasSuffix(program.path) else { return false }
            let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap {
                UInt($0, radix: 16)
            }
            return bounds.count == 2 && bounds[0] <= address && address < bounds[1]
        }
    }
}
