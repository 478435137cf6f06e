#if ReplayTool
    enum Page {
        static func inspector() -> (html: [UInt8], contentSecurityPolicy: String) {
            let html = "<!doctype html><meta charset=utf-8><title>inspect</title>"
            return (Array(html.utf8), "default-src 'none'; frame-ancestors 'none'")
        }
    }
#endif
