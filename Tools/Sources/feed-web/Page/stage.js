// Sends what people do.
