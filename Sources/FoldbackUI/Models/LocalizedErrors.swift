import Foldback

// For each error, its `description` has all that there is to say.

extension NotReady: DescribedLocalizedError {}
extension IntentFailure: DescribedLocalizedError {}
