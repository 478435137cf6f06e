import FoldbackLMDB
import Synchronization

/// The file beside the data file that each store makes anew before it writes for the first time, and
/// that the header names from then on (L11).
///
/// A data file that is overwritten in place by a backup is still the same file, but the header in it
/// names an older file beside it than the one that is there. Both overwritten: what is there is a
/// younger file than the one named. A moved directory has both as they were.
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
    /// The file that was there when the log was opened.
    let found: FileFingerprint
    private let state = Mutex(State.untouched)

    init(_ directory: String) throws(LMDBError) {
        path = "\(directory)/mark"
        found = try Platform.mark(ofFile: path) ?? .none
    }

    /// The next one, made but not in place yet; nil where this store has put its own there already.
    ///
    /// Where none can be made, as on a full disk, the old one stays and is as good as before: that must
    /// not keep anybody from writing.
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

    /// The commit that names it is done.
    func adopt() {
        if Platform.rename("\(path).new", to: path) { state.withLock { $0 = .adopted } }
    }
}

extension Platform {
    /// Nil where there is no such file.
    static func mark(ofFile path: String) throws(LMDBError) -> FileFingerprint? {
        guard try fileSize(path) != nil else { return nil }
        let identity = try identity(ofFile: path)
        return FileFingerprint(inode: identity.inode, birth: identity.birthNanoseconds)
    }
}
