import Foundation

/// The secret key of a server that signs its own tokens: a file that only its user can read.
struct OwnKey {
    let bytes: [UInt8]
    /// Whether this start made it.
    let isNew: Bool

    /// Reads the key, or makes one.
    ///
    /// - Throws: ``ConfigurationError``.
    init(in data: URL) throws {
        let file = data.appending(path: "key")
        do {
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            if let found = try Self.read(file) {
                (bytes, isNew) = (found, false)
                return
            }
            try Self.make(file)
            guard let made = try Self.read(file) else {
                throw ConfigurationError("the key \(file.path) is gone")
            }
            (bytes, isNew) = (made, true)
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("the key \(file.path) cannot be used: \(error)")
        }
    }

    private static func read(_ file: URL) throws -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        guard let mode = mode as? Int, mode & 0o077 == 0 else {
            throw ConfigurationError(
                "others can read the key \(file.path): run chmod 600 on it, or remove it and all "
                    + "tokens with it")
        }
        guard let key = Data(base64Encoded: try Data(contentsOf: file)), key.count >= 32 else {
            throw ConfigurationError("\(file.path) has no key of 32 bytes in base64")
        }
        return Array(key)
    }

    /// Makes a key beside its place, so that a kill leaves no half of one, and nobody reads it meanwhile.
    private static func make(_ file: URL) throws {
        let draft = file.appendingPathExtension("new-\(ProcessInfo.processInfo.processIdentifier)")
        unlink(draft.path)
        let descriptor = open(draft.path, O_CREAT | O_EXCL | O_WRONLY, 0o600)
        guard descriptor >= 0 else { throw failure(draft) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedData()
        try handle.write(contentsOf: key)
        try handle.synchronize()
        defer { unlink(draft.path) }
        // Another process may have made one at this moment. Then that one is the key.
        guard link(draft.path, file.path) == 0 || errno == EEXIST else { throw failure(file) }
    }

    private static func failure(_ file: URL) -> ConfigurationError {
        ConfigurationError("\(file.path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
