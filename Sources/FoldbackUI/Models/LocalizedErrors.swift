import Foldback

// For each error, its `description` has all that there is to say.

extension ListError: DescribedLocalizedError {}
extension ListFailure: DescribedLocalizedError {}
extension NotReady: DescribedLocalizedError {}
extension IntentFailure: DescribedLocalizedError {}
extension ReadFailure: DescribedLocalizedError {}
