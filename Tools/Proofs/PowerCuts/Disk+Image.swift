extension Disk {
    /// Returns what the disk has if the power fails now.
    ///
    /// - Parameter seed: decides which operations that were not flushed are on the disk.
    public func image(seed: UInt64) -> DiskImage {
        var fates = Fates(seed: seed, count: pendingCount)
        return image(&fates)
    }

    /// Returns the disk as the process sees it, which is also what a disk without a power cut has.
    public func wholeImage() -> DiskImage {
        var whole = self
        for file in files.keys { whole.flush(file) }
        var names = durableNames
        for change in pendingNames { Self.apply(change.content, to: &names) }
        return DiskImage(root: root, names: names, files: whole.files.mapValues(\.durable))
    }

    /// An operation that is not flushed: of a file, or of names.
    private enum Unflushed {
        case content(FileID, Change)
        case certain(FileID, Change)
        case name(NameChange)
    }

    private func image(_ fates: inout Fates) -> DiskImage {
        var contents = files.mapValues(\.durable)
        var names = durableNames
        var image = DiskImage(root: root)
        for (operation, what) in unflushed {
            let place = image.unflushedCount
            switch what {
            case .certain(let file, let change):
                Self.apply(change, to: &contents[file]!)
                continue
            case .name(let change):
                let fate = fates.fateOfName(at: place)
                if fate == .kept { Self.apply(change, to: &names) }
                image.note(operation, fate, text(of: change))
            case .content(let file, let change):
                let fate = apply(change, to: &contents[file]!, &fates, place)
                image.note(operation, fate, text(of: change, to: file))
            }
            image.unflushedCount += 1
        }
        endFiles(&contents, names, &fates, &image)
        image.names = names
        image.files = contents
        return image
    }

    /// The operations that are not flushed, in order.
    private var unflushed: [(operation: Int, what: Unflushed)] {
        var all: [(operation: Int, what: Unflushed)] = pendingNames.map {
            ($0.operation, .name($0.content))
        }
        for (id, file) in files {
            all += file.pending.map { change in
                (
                    change.operation,
                    change.isCertain ? .certain(id, change.content) : .content(id, change.content)
                )
            }
        }
        return all.sorted { $0.operation < $1.operation }
    }

    /// Loses the growth of some files, and gives mapped files a content.
    private func endFiles(
        _ contents: inout [FileID: [UInt8]], _ names: [Place: FileID], _ fates: inout Fates,
        _ image: inout DiskImage
    ) {
        for (id, file) in files.sorted(by: { $0.key.inode < $1.key.inode }) {
            let (durable, size) = (file.durableSize, contents[id]!.count)
            if size > durable, fates.losesGrowth() {
                Self.resize(&contents[id]!, to: durable)
                image.note("\(file.name) did not grow from \(durable) to \(size) bytes")
            }
            guard file.isMapped, names.values.contains(id) else { continue }
            let content = fates.mappedContent()
            contents[id] = mapped(id, contents[id]!, content, &fates)
            image.note("the mapped file \(file.name) has its content: \(content)")
        }
    }

    /// Applies as much of a change as the power cut leaves, and returns its fate.
    private func apply(
        _ change: Change, to bytes: inout [UInt8], _ fates: inout Fates, _ place: Int
    ) -> Fate {
        guard case .write(let offset, let new) = change else {
            let fate = fates.fate(at: place, isWrite: false)
            if fate == .kept { Self.apply(change, to: &bytes) }
            return fate
        }
        let fate = fates.fate(at: place, isWrite: true)
        switch fate {
        case .lost: break
        case .kept: Self.apply(change, to: &bytes)
        case .sizeOnly: Self.resize(&bytes, to: max(bytes.count, offset + new.count))
        case .torn:
            let first = offset / Self.sectorBytes
            let last = (offset + new.count - 1) / Self.sectorBytes
            let sectors = fates.sectors(last - first + 1)
            for (number, isThere) in sectors.enumerated() where isThere {
                let start = max(offset, (first + number) * Self.sectorBytes)
                let end = min(offset + new.count, (first + number + 1) * Self.sectorBytes)
                let part = new[(new.startIndex + start - offset)..<(new.startIndex + end - offset)]
                Self.apply(.write(offset: start, bytes: part), to: &bytes)
            }
            if sectors.allSatisfy({ $0 }) { return .kept }
            if !sectors.contains(true) { return .lost }
        }
        return fate
    }

    private func mapped(
        _ file: FileID, _ written: [UInt8], _ content: MappedContent, _ fates: inout Fates
    ) -> [UInt8] {
        switch content {
        case .written: written
        case .last: lastContents[file] ?? written
        case .zeros: [UInt8](repeating: 0, count: written.count)
        case .garbage: fates.garbage(written.count)
        case .empty: []
        }
    }

    // MARK: Descriptions

    private func text(of change: NameChange) -> String {
        switch change {
        case .set(let place, _): "the name \(place.name)"
        case .move(let from, let to, _): "the rename of \(from.name) to \(to.name)"
        case .exchange(let from, _, let to, _): "the exchange of \(from.name) and \(to.name)"
        case .remove(let place): "the removal of \(place.name)"
        }
    }

    private func text(of change: Change, to file: FileID) -> String {
        let name = files[file]?.name ?? "?"
        return switch change {
        case .write(let offset, let bytes):
            "the write of \(bytes.count) bytes at \(offset) of \(name)"
        case .resize(let size): "the size \(size) of \(name)"
        }
    }
}

extension Disk.File {
    /// The size that the file has on the disk for sure.
    fileprivate var durableSize: Int {
        pending.filter(\.isCertain).reduce(durable.count) { size, change in
            guard case .write(let offset, let bytes) = change.content else { return size }
            return max(size, offset + bytes.count)
        }
    }
}
