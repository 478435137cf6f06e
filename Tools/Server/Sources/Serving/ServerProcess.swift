import CMalloc
import Foundation

/// The process of a server.
enum ServerProcess {
    /// Sets the limits that many open spaces and connections need.
    static func prepare() {
        var limit = rlimit()
        #if canImport(Glibc)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        if getrlimit(files, &limit) == 0 {
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(files, &limit)
        }
        // LMDB allocates 2 MB for each environment. Without a fixed threshold, glibc takes the second one
        // from the heap, and clears it, so that all of it is in memory.
        foldback_set_mmap_threshold(128 << 10)
    }

    /// Writes a line to standard output at once, also into a pipe.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
