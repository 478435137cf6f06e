import CLMDB

extension Environment {
    /// Writes a compact copy of the last commit into a directory whose data file is empty. Any process
    /// may write to this environment meanwhile.
    ///
    /// As any read, it keeps the map from growing. A write that must grow it waits.
    ///
    /// - Returns: the error of writing the copy; nil if it is complete. It is not flushed.
    /// - Throws: `.damagedPage` if a page of this environment is damaged, and the errors of beginning
    ///   a read. Nothing was written.
    /// - Complexity: O(n) in pages: reads the file twice, and writes the used pages.
    package func copy(to target: HeldDirectory) throws(LMDBError) -> LMDBError? {
        let code = try read { transaction throws(LMDBError) in
            // LMDB follows pages without a check.
            let check = transaction.structureCheck(.everything)
            if let damage = check.findings.first ?? check.blemishes.first {
                throw LMDBError(.copy, damage)
            }
            return mdb_env_copyfd2(handle, target.fileDescriptor, UInt32(MDB_CP_COMPACT))
        }
        return code == 0 ? nil : LMDBError(.copy, code: code).classified(at: target.path)
    }
}
