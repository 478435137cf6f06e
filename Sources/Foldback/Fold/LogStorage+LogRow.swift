extension LogStorage {
    /// Returns a value that has a row of its own in table `log`; nil if the log lacks the row.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    func row<Row: LogRow>(of _: Row.Type) throws(FoldbackError) -> Row? {
        let found = try reading(.log) { table throws(FoldbackError) in
            try table.get(.bytes(Row.key))?.array
        }
        guard let found else { return nil }
        do throws(FormatError) { return try Row(decoding: found) } catch {
            let name = String(decoding: Row.key.bytes, as: UTF8.self)
            throw FoldbackError(error, at: "\(path), table log, \(name)", sequence: nil)
        }
    }
}
