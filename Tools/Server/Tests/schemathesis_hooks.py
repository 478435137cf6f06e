"""Changes requests that Schemathesis makes, where JSON Schema cannot say what a request must be."""
import schemathesis


@schemathesis.hook
def map_query(context, query):
    """Shortens long polls: a poll of an empty space waits for 55 seconds."""
    wait = (query or {}).get("wait")
    if type(wait) is int and wait > 0:
        query["wait"] = 1
    return query


@schemathesis.hook
def map_body(context, body):
    """Writes whole numbers without a fraction, and gives each replica's intents rising numbers."""
    body = without_fractions(body)
    intents = body.get("intents") if type(body) is dict else None
    if type(intents) is list and all(type(intent) is dict for intent in intents):
        numbers = [intent.get("number") for intent in intents]
        if all(type(number) is int for number in numbers):
            rising = sorted(set(numbers))
            body["intents"] = [
                {**intent, "number": number} for intent, number in zip(intents, rising)
            ]
    return body


def without_fractions(value):
    """Returns JSON with 1 for 1.0, which is also a whole number for JSON Schema."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: without_fractions(part) for name, part in value.items()}
        case list():
            return [without_fractions(part) for part in value]
    return value
