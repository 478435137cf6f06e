"""Reads requests and writes answers for `reference.py`, as `openapi.yaml` has them.

A device cannot get past a page that it cannot read. So some JSON that Python accepts must not get
into a page: two members with one name, half of a surrogate pair, an infinite number, and more than
512 levels. A page has three levels itself.
"""
import base64, http, json, re, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

BODY_BYTES_MAX, EVENT_LEVELS_MAX, WAIT_SECONDS_MAX = 4 << 20, 509, 55
DETAILS = {
    401: "the request has no valid token",
    403: "this account may not use this space or this replica",
    404: "there is nothing at this path",
    409: "the device has data that this server does not have",
    411: "the request must have a Content-Length",
    413: f"a body has at most {BODY_BYTES_MAX} bytes",
    500: "the server failed on the request",
}


class Problem(Exception):
    """A request without an answer. The device gets a problem document (RFC 9457)."""

    def __init__(self, status, detail=None, headers={}, **members):
        title, detail = http.HTTPStatus(status).phrase, detail or DETAILS[status]
        self.status, self.headers = status, headers
        self.document = {"title": title, "status": status, "detail": detail, **members}


def require(condition, status, detail=None, headers={}, **members):
    if not condition:
        raise Problem(status, detail, headers, **members)


def text_of(value):
    """Returns JSON in which equal values have equal text. Numbers stay: 1.0 is not 1."""
    form = {"ensure_ascii": False, "allow_nan": False, "sort_keys": True}
    return json.dumps(value, separators=(",", ":"), **form)


# Bodies and queries


def read_intents(body):
    """Returns the intents of a request, and what the device knows."""
    request, last = json.loads(body.decode(), object_pairs_hook=object_of), {}
    shared, listed = name_in(request, "replica"), member(request, "intents", list, required=True)
    intents = [read_intent(intent, shared) for intent in listed]
    for intent in intents:
        replica, number = intent["replica"], intent["number"]
        ascending = number > last.get(replica, -1)
        require(ascending, 400, "the intents of a replica must be ascending by number")
        last[replica] = number
    return intents, read_device(request)


def read_intent(intent, shared):
    codec, version = member(intent, "format", list, 2, 2, required=True)
    form = {"codec": codec, "version": version}
    member(form, "codec", int, 0, 255, required=True)
    member(form, "version", int, 0, 65535, required=True)
    encoded = member(intent, "bytes", str)
    if encoded is not None:
        event = base64.b64decode(encoded, validate=True)
        content = {"bytes": base64.b64encode(event).decode()}
    else:
        require(codec == 1 and "event" in intent, 400, "an intent needs an event or bytes")
        event = intent["event"]
        content = {"event": event}
    text_of(content).encode()  # An infinite number and half of a surrogate pair are errors.
    require(levels(event) <= EVENT_LEVELS_MAX, 400, "the event has too many levels")
    replica = name_in(intent, "replica") or shared
    require(replica and "\0" not in replica, 400, "an intent needs a replica, without a NUL")
    info = member(intent, "info", dict) or {}
    require(all(type(text) is str for text in info.values()), 400, "info must have texts")
    member(intent, "time", int, -(2**63), 2**63 - 1)
    return {
        "replica": replica,
        "number": member(intent, "number", int, required=True),
        "lane": member(intent, "lane", int, -(2**63), 2**63 - 1),
        "event": event,
        "effect": {"format": [codec, version], **content},
    }


def read_query(text):
    """Returns what the device knows, and the seconds that it waits at most."""
    query = object_of(parse_qsl(text, keep_blank_values=True, errors="strict"))
    for name in ("after", "wait"):
        number = query.get(name, "0")
        require(re.fullmatch("[0-9]{1,20}", number), 400, f"{name} must be a whole number")
        query[name] = int(number)
    wait = member(query, "wait", int)
    return read_device({**query, "through": query["after"]}), min(wait, WAIT_SECONDS_MAX)


def read_device(owner):
    return {
        "through": member(owner, "through", int, required=True),
        "lineage": name_in(owner, "lineage"),
        "digest": name_in(owner, "digest"),
    }


def name_in(owner, name):
    return member(owner, name, str, 1, 255)


def member(owner, name, kind, least=0, most=2**64 - 1, required=False):
    """Returns a member; None if it is missing or null, and may be.

    The bounds are those of a number, of a text's bytes, or of a count.
    """
    value = owner.get(name) if type(owner) is dict else None
    if value is not None or required:
        require(type(value) is kind, 400, f'the member "{name}" is missing or has another type')
        size = value if kind is int else len(value.encode()) if kind is str else len(value)
        require(least <= size <= most, 400, f'the member "{name}" is out of bounds')
    return value


def object_of(pairs):
    require(len(found := dict(pairs)) == len(pairs), 400, "a name appears twice")
    return found


def levels(value):
    """Returns how deep the lists and objects of a value are nested."""
    count, layer = 0, [value]
    while nested := [each for each in layer if type(each) in (dict, list)]:
        parts = [each.values() if type(each) is dict else each for each in nested]
        count, layer = count + 1, [part for some in parts for part in some]
    return count


# HTTP


def serve(address, accounts, may_use, submit, changes):
    """Prints the address, and serves until the process ends. `accounts` has accounts by token."""

    def answer(request, body):
        path, _, query = request.path.partition("?")
        place = "/v1/spaces/([A-Za-z0-9_-][A-Za-z0-9._-]{0,63})/(intents|changes)"
        found = re.fullmatch(place, path)
        require(found, 404)
        space, resource = found.groups()
        method = {"intents": "POST", "changes": "GET"}[resource]
        require(request.command == method, 405, f"the method must be {method}", {"Allow": method})
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        account = accounts.get(token) if scheme.lower() == "bearer" else None
        require(account, 401, headers={"WWW-Authenticate": "Bearer"})
        if isinstance(body, Problem):
            raise body
        try:
            read = read_intents(body) if resource == "intents" else read_query(query)
        except (ValueError, RecursionError) as error:
            raise Problem(400, f"the request cannot be read: {error}")
        require(may_use(account, space), 403)
        return (submit if resource == "intents" else changes)(account, space, *read)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 75  # seconds until an idle connection ends

        def respond(self):
            body, status, headers = self.body(), 200, {"Content-Type": "application/json"}
            try:
                document = answer(self, body)
            except Exception as error:
                if not isinstance(error, Problem):
                    traceback.print_exc()
                    error = Problem(500)
                status, document = error.status, error.document
                headers = {"Content-Type": "application/problem+json", **error.headers}
            content = b"" if self.command == "HEAD" else text_of(document).encode()
            headers["Content-Length"] = str(len(content))
            if self.close_connection:
                headers["Connection"] = "close"
            self.send_response(status)
            for header in headers.items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(content)

        def __getattr__(self, name):
            if name.startswith("do_"):  # do_GET, do_POST, and so on: one for each method
                return self.respond
            raise AttributeError(name)

        def body(self):
            """Returns the body, or its problem. It reads all: the next request begins after it."""
            length = self.headers.get("Content-Length", "0")
            if "Transfer-Encoding" in self.headers or not re.fullmatch("[0-9]{1,15}", length):
                self.close_connection = True
                return Problem(411)
            left = int(length)
            if left <= BODY_BYTES_MAX:
                return self.rfile.read(left)
            while left > 0 and (part := self.rfile.read(min(left, BODY_BYTES_MAX))):
                left -= len(part)
            return Problem(413, code="too-large")

    host, port = address.rpartition(":")[::2]
    host = host or "127.0.0.1"
    ThreadingHTTPServer.request_queue_size = 128  # connections that wait to be accepted
    server = ThreadingHTTPServer((host, int(port)), Handler)
    print(f"listening on http://{host}:{server.server_port}", flush=True)
    server.serve_forever()
