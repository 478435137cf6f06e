extension [Double] {
    /// Returns the least element that `percent` percent of all elements do not exceed (nearest
    /// rank).
    ///
    /// The array must be sorted and must not be empty. Comparison has this file as a symbolic link.
    func percentile(_ percent: Double) -> Double {
        precondition(!isEmpty, "nothing was measured")
        let rank = (Double(count) * percent / 100).rounded(.up)
        return self[Swift.min(Swift.max(Int(rank) - 1, 0), count - 1)]
    }
}
