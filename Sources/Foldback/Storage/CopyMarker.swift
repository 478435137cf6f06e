import FoldbackLMDB
import Synchronization

/// The marker file beside the data file. Each store creates a new marker file before its first
/// write, and the header names the new file from that write on (L11).
///
/// If a backup overwrites the data file in place, the data file keeps its identity. The header in
/// it then names an older marker file than the present one. If the backup overwrites both files,
/// the present marker file is newer than the named one. A moved directory keeps both files
/// unchanged.
///
/// ```
/// store k opens    header: k - 1, k - 2    beside: k - 1     fits
/// first write      mark.new is made, the header says k, k - 1, then mark.new becomes mark
/// killed between   header: k, k - 1        beside: k - 1     fits
/// ```
final class CopyMarker: Sendable {
    private enum State {
        case untouched, made, adopted
    }

    private let path: String
    /// The marker file that was present when the log was opened; `.none` if there was none.
    let found: FileFingerprint
    private let state = Mutex(State.untouched)

    init(_ directory: String) throws(LMDBError) {
        path = "\(directory)/mark"
        found = try Platform.mark(ofFile: path) ?? .none
    }

    /// Creates the next marker file as `mark.new`, and returns its fingerprint. Returns nil if this
    /// store's marker file is already in place.
    ///
    /// Also returns nil if the file cannot be created, as on a full disk. The old marker file then
    /// stays valid, and the write continues.
    func nextMark() -> FileFingerprint? {
        guard state.withLock({ $0 != .adopted }) else { return nil }
        do throws(LMDBError) {
            try Platform.createEmpty("\(path).new")
            guard let mark = try Platform.mark(ofFile: "\(path).new") else { return nil }
            state.withLock { $0 = .made }
            return mark
        } catch {
            return nil
        }
    }

    /// Renames `mark.new` to `mark`, after the commit whose header names it. If that fails, the
    /// next write tries again.
    func adopt() {
        if Platform.rename("\(path).new", to: path) { state.withLock { $0 = .adopted } }
    }
}

extension Platform {
    /// Returns the file's inode and birth time; nil if the file does not exist.
    static func mark(ofFile path: String) throws(LMDBError) -> FileFingerprint? {
        guard try fileSize(path) != nil else { return nil }
        let identity = try identity(ofFile: path)
        return FileFingerprint(inode: identity.inode, birth: identity.birthNanoseconds)
    }
}
