// The encoding is {"outcome":…,"older":…}: what is known, with the outcome as RemoteData. The value
// before a failure is `older`.

private enum FetchStateKey: String, CodingKey {
    case outcome, older
}

extension FetchState: Encodable where Value: Encodable, Failure: Encodable {
    /// Encodes what is known. Moments and the fetch in progress mean nothing in another process, so
    /// they are left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FetchStateKey.self)
        try container.encode(outcome.restored, forKey: .outcome)
        if case .failure(_, at: _, older: let older?) = known {
            try container.encode(older, forKey: .older)
        }
    }
}

extension FetchState: Decodable where Value: Decodable, Failure: Decodable {
    /// Decodes what was known. The state is idle, whatever was encoded (U7). Its value is stale
    /// until a fetch has succeeded, and its moment is ``Moment/zero``.
    ///
    /// - Throws: a `DecodingError`, as ``RemoteData``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FetchStateKey.self)
        switch try container.decode(RemoteData<Value, Failure>.self, forKey: .outcome).restored {
        case .notAsked, .loading: self.init(restoring: .nothing)
        case .success(let value): self.init(restoring: .value(value, at: .zero))
        case .failure(let failure):
            // The value may be null itself, which `decodeIfPresent` does not distinguish.
            let older =
                container.contains(.older)
                ? try container.decode(Value.self, forKey: .older) : nil
            self.init(restoring: .failure(failure, at: .zero, older: older))
        }
    }
}
