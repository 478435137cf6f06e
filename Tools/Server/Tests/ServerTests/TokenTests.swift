import FoldbackServer
import Foundation
import JWTKit
import Testing

@testable import Serving

/// Question: whose token is accepted?
@Suite struct TokenTests {
    private static let secret = Array("a key of the server with 32 bytes".utf8)

    /// Made for these tests, and used for nothing else.
    private static let rsa = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEA7hCYVcEMgYugTu31OdwQc1m06R0FU2BVEAKKVfePf4U94Ht9
        0OW3Ob8lBhQd1zQJPozCwtov1429B2P+MUGsx+6rjxNVLfLDf5jsL4XmuloquxfM
        r6z2BFbypZVvPSaNJRjybGCty1cgYLZidbBHc7zwa3IfWt0cW0uDe5oViTTQFi7j
        4obnOYf0eyQS6ZjbsngibygA/Bn4Pcmesr+97uz7rV+CwGh919vcYOKztxIHWWx1
        4XQOjVYPPeaYXHScAD6gQQ0n1y1XXZtnxrNcuXThGn4gJHK/VVSk5UlbkGeTKFQF
        eeJB/mJnOz02VFnW1jHJtEHHAbgRLi8Rrq1D3QIDAQABAoIBAGxt14xbWJBaYYIB
        pMsdHcsEBT+VrbrLagLYPVypXEz3CXdIl8YBEsJ0+m551BuUAk/gecaY7OhvELUg
        iIKzyHfpj28jnYzHgN6Jbq24fZ3L+qFrVhl/nC/e0Da1yMwf1nKambPeFtpCDSev
        eknjJ7Ah0pkFih1vDv7P9oth40QxjmFv311BXgiCNxSfJe4KOE9TeESf5o2T7nPs
        8uzsa24qboPdVekIYNj0/uQeFCYrzniHZY0TVz870BS2bEBSiRdQ6d9cThfKIFYL
        kdkmCEBWX4lxU1pN6fP4xTWv/efHGEnC0Y8XFw4nfb2jFGbfDWlYexni6AWaSEhX
        QKW/BFsCgYEA9yLOzARmtuIYemSc8YOlVgI0JzLcR+rqDAMArJUXm09TM9QXioDI
        Jv0EGwUOIo3IA1oatgFF7uOgYPXVppxdeqsL6CJ5Av+KMfwYaq5gl5xf3b/4e4S9
        PQ2lgfY8rJdTFx1YrLUdpbwPBlWTuV04ruzNPPQ6tmGbbth6psNgdY8CgYEA9pp/
        E7hMN6ZQey7RhF4oicvU9JEM2jcGto5Dhk7OD6f1pQ99Qa4xzc1BQR/A0mzbvDxv
        g1kp2qt2ifgPxQopch1jLr7Kx65LBvNU/ptbtRgV1U3u4YpmFdiHQCQUaPUiiDSV
        ttOKHTTyON2pb7TroOC3/VmqFuUJlS121LeUMdMCgYEApXvdVaesz9Fd6rbskJxC
        XfFj0suvzUh0KE7qaKX9BLZ9VDs0+D17yP+rfBxKdsDRqczwDeeUWH57qfFzevlB
        bx6R/oL23RcYBph0ERtq+ppvZyFg1fTwcq1sojWsMzWxIc04z40HqS7gMLGlFX5i
        sl9GnwY7Olzpo7O5jWlOcekCgYAcpH02ESXpIMwgQqPbOASFXMNzVJWlktaYxZVa
        ODT+5IdHkLD/u/fU6440vjdrOXGcP3jETMrrtxahl8pdHH0L4BXxDAAJiVj1ibXJ
        jMnuEsoWaGLil2ycBPZQoOAuAKruHw10msVj9w5bRIO1kdH8cZ1tM8jpt9iRFyLC
        OkBgOQKBgQDLmrzlP9gRgE2NqKhfGje+LTDwHKGR5gauD69i3tKsOp4lcDqW8THx
        SnowLNlckbJPrMjjcOF5EDIEvOEwcu9fYu1WlvEWJ1yYSgIApyV3d402SBv4Yh/f
        JaV5+p1VGhKuZ8YxQlxSaSt54aukLVMr1HD5eVVzCDDhPvUb3KtYbg==
        -----END RSA PRIVATE KEY-----
        """

    private let folder: Folder

    init() throws { folder = try Folder() }

    private func claims(
        sub: String = "ann", aud: [String] = ["foldback"], seconds: Double = 600,
        nbf: Double? = nil
    ) -> Tokens.Claims {
        Tokens.Claims(
            sub: SubjectClaim(value: sub), aud: Tokens.Audience(names: aud),
            exp: ExpirationClaim(value: Date.now + seconds),
            nbf: nbf.map { NotBeforeClaim(value: Date.now + $0) })
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// A token whose parts are as given.
    private static func token(_ header: String, _ claims: String, _ signature: String) -> String {
        [base64(header.utf8), base64(claims.utf8), signature].joined(separator: ".")
    }

    private static let farClaims = #"{"sub":"ann","aud":"foldback","exp":4000000000}"#

    private func ownTokens() async -> Tokens {
        await Tokens(secret: Self.secret, audience: "foldback")
    }

    private func signed(_ claims: Tokens.Claims, secret: [UInt8] = secret) async throws -> String {
        let keys = await JWTKeyCollection().add(
            hmac: HMACKey(from: Data(secret)), digestAlgorithm: .sha256)
        return try await keys.sign(claims)
    }

    // MARK: The server's own key

    @Test func `a token of the server's own key names its account`() async throws {
        let tokens = await ownTokens()
        let token = try await tokens.token(of: #require(Account("ann")), until: .now + 60)
        #expect(await tokens.account(of: token)?.description == "ann")
        // The second time, it is known.
        #expect(await tokens.account(of: token)?.description == "ann")
        let several = try await signed(claims(aud: ["other", "foldback"]))
        #expect(await tokens.account(of: several)?.description == "ann")
    }

    @Test func `tokens that are not valid have no account`() async throws {
        let tokens = await ownTokens()
        let bad = [
            try await signed(claims(aud: ["other"])), try await signed(claims(aud: [])),
            try await signed(claims(seconds: -1)), try await signed(claims(nbf: 60)),
            try await signed(claims(sub: "")),
            try await signed(claims(sub: String(repeating: "a", count: 256))),
            try await signed(claims(), secret: Array("another key of 32 bytes, or of more".utf8)),
            Self.token(#"{"alg":"none"}"#, Self.farClaims, ""),
            Self.token(#"{"alg":"None"}"#, Self.farClaims, ""),
            Self.token(#"{"alg":"HS256"}"#, Self.farClaims, ""),
            Self.token(#"{}"#, Self.farClaims, ""), "", ".", "..", "...", "a.b.c",
            String(repeating: "a", count: 9_000),
        ]
        for token in bad {
            #expect(await tokens.account(of: token) == nil, "\(token)")
        }
        #expect(await tokens.account(of: nil) == nil)
    }

    @Test func `a token with a member that must be understood is refused`() async throws {
        let tokens = await ownTokens()
        let keys = await JWTKeyCollection().add(
            hmac: HMACKey(from: Data(Self.secret)), digestAlgorithm: .sha256)
        let token = try await keys.sign(claims(), header: ["crit": ["x"], "x": "y"])
        #expect(await tokens.account(of: token) == nil)
    }

    @Test func `a known token ends at its time`() async throws {
        let tokens = await ownTokens()
        let token = try await signed(claims(seconds: 1.5))
        #expect(await tokens.account(of: token) != nil)
        try await Task.sleep(for: .seconds(2))
        #expect(await tokens.account(of: token) == nil)
    }

    // MARK: Key sets

    private struct Keys {
        let ec = ES256PrivateKey()
        let ed: EdDSA.PrivateKey
        let rsa: Insecure.RSA.PrivateKey
        let file: URL

        init(in folder: Folder) throws {
            ed = try EdDSA.PrivateKey(curve: .ed25519)
            rsa = try Insecure.RSA.PrivateKey(pem: TokenTests.rsa)
            file = folder.url.appending(path: "keys.json")
            let ecKey = try #require(ec.parameters)
            let (modulus, exponent) = try rsa.publicKey.getKeyPrimitives()
            try TokenTests.write(
                """
                {"kty":"EC","crv":"P-256","kid":"ec","alg":"ES256","x":"\(ecKey.x)","y":"\(ecKey.y)"},
                {"kty":"OKP","crv":"Ed25519","kid":"ed","alg":"EdDSA",
                 "x":"\(TokenTests.base64(ed.publicKey.rawRepresentation))"},
                {"kty":"RSA","kid":"rsa","alg":"RS256","n":"\(TokenTests.base64(modulus))",
                 "e":"\(TokenTests.base64(exponent))"}
                """, to: file)
        }
    }

    private static func write(_ keys: String, to file: URL) throws {
        try Data(#"{"keys":[\#(keys)]}"#.utf8).write(to: file)
    }

    @Test func `a key set checks each algorithm by its own key`() async throws {
        let keys = try Keys(in: folder)
        let tokens = try await Tokens(keySet: keys.file, audience: "foldback")
        let signers = await JWTKeyCollection().add(ecdsa: keys.ec, kid: "ec")
            .add(eddsa: keys.ed, kid: "ed").add(rsa: keys.rsa, digestAlgorithm: .sha256, kid: "rsa")
        for kid in ["ec", "ed", "rsa"] as [JWKIdentifier] {
            let token = try await signers.sign(claims(), kid: kid)
            #expect(await tokens.account(of: token)?.description == "ann", "\(kid)")
            // The same signature under another name.
            var parts = token.split(separator: ".").map(String.init)
            parts[0] = Self.base64(#"{"alg":"ES256","kid":"rsa"}"#.utf8)
            #expect(await tokens.account(of: parts.joined(separator: ".")) == nil)
        }
        let nameless = try await JWTKeyCollection().add(ecdsa: keys.ec).sign(claims())
        #expect(await tokens.account(of: nameless) == nil, "no kid")
        let unknown = try await JWTKeyCollection().add(ecdsa: keys.ec, kid: "new")
            .sign(claims(), kid: "new")
        #expect(await tokens.account(of: unknown) == nil, "an unknown kid")
    }

    /// The public key is known to everybody, so it must not check an HMAC.
    @Test func `an RSA key does not check an HMAC`() async throws {
        let keys = try Keys(in: folder)
        let tokens = try await Tokens(keySet: keys.file, audience: "foldback")
        let pem = keys.rsa.publicKey.pemRepresentation
        for secret in [pem, pem + "\n"] {
            let signer = await JWTKeyCollection().add(
                hmac: HMACKey(from: Data(secret.utf8)), digestAlgorithm: .sha256, kid: "rsa")
            let token = try await signer.sign(claims(), kid: "rsa")
            #expect(await tokens.account(of: token) == nil)
        }
    }

    @Test(arguments: [
        "", #"{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}"#,
        #"{"kty":"EC","crv":"P-256","alg":"ES256","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-256","kid":"a","alg":"ES256","x":"AA","y":"AA"}"#,
        #"{"kty":"oct","kid":"a","alg":"HS256","k":"AAAA"}"#, "{",
    ])
    func `a key set that is not right stops the start`(keys: String) async throws {
        let file = folder.url.appending(path: "keys.json")
        try Self.write(keys, to: file)
        await #expect(throws: ConfigurationError.self) {
            _ = try await Tokens(keySet: file, audience: "foldback")
        }
    }
}
