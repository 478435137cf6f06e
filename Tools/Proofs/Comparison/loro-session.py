"""Types an editing session into a Loro text in memory, with one commit for each transaction.

usage: loro-session.py EDITS END

EDITS has a line for each transaction: a JSON array of patches [position, deleted count, inserted text].
Positions count Unicode code points. END has the last text. Prints the seconds of typing alone, without
reading the files. Ends with code 1 if Loro's text is not the last text.
"""

import json
import sys
import time

from loro import LoroDoc


def read_edits(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def type_session(edits):
    """Returns the text after all edits, and the seconds that they took."""
    document = LoroDoc()
    text = document.get_text("text")
    start = time.perf_counter()
    for patches in edits:
        for position, deleted_count, inserted in patches:
            if deleted_count:
                text.delete(position, deleted_count)
            if inserted:
                text.insert(position, inserted)
        document.commit()
    seconds = time.perf_counter() - start
    return text.to_string(), seconds


def main():
    text, seconds = type_session(read_edits(sys.argv[1]))
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        if file.read() != text:
            sys.exit("loro-session.py: Loro's text is not the session's last text")
    print(seconds)


main()
