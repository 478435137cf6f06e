// SwiftPM requires a header. The library replaces functions of the C library, and has no function
// of its own.
