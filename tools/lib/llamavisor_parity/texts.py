"""JSON as docs/decisions/0006-scores.md has it: read exactly, and written in one form."""

import json
import math

SMALLEST, LARGEST = -2**63, 2**64 - 1  # what whole numbers keep their digits


class NotJson(Exception):
    pass


def whole(digits):
    number = int(digits)
    return number if SMALLEST <= number <= LARGEST else real(digits)


def real(digits):
    number = float(digits)
    if not math.isfinite(number):
        raise NotJson(f"the number {digits[:40]} is too large")
    return number


def constant(name):
    raise NotJson(f"{name} is no JSON")


def parse(text):
    """Of two members with one key the last one's value stays, in the first one's place."""
    try:
        return json.loads(text, parse_int=whole, parse_float=real, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise NotJson(f"no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None


def to_text(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_unicode(value):
    """Whether every text of a JSON value can be written as UTF-8: half a surrogate pair cannot."""
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return all(is_unicode(key) and is_unicode(member) for key, member in value.items())
    return all(map(is_unicode, value)) if isinstance(value, list) else True
