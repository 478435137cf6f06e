import Foundation

/// Waits for events of files, as `poll` does, also if signals interrupt it. A signal begins the time
/// again.
///
/// - Parameters:
///   - files: the files and their events. Negative files are not waited for.
///   - milliseconds: the longest time; -1 for no limit.
/// - Returns: the number of files with events; 0 if the time is up.
/// - Throws: ``StartError`` if `poll` fails, for example because the memory is used up.
func waitForEvents(
    of files: inout [pollfd], milliseconds: Int32 = -1
) throws(StartError) -> Int {
    while true {
        let count = poll(&files, nfds_t(files.count), milliseconds)
        if count >= 0 { return Int(count) }
        let code = errno
        guard code == EINTR else {
            throw StartError("poll has failed: \(String(cString: strerror(code)))")
        }
    }
}
