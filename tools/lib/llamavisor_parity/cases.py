"""A case out of a line, and which cases are refused before any prompt is built."""

from dataclasses import dataclass, field
from typing import List, Optional, Tuple

from .errors import Refused
from .texts import NotJson, is_unicode, parse, to_text

LIMITS = {"choice": 255, "score": 10}


@dataclass
class Question:
    qid: str
    kind: str  # choice, score, noul
    instructions: str
    options: List[Tuple[Optional[str], Optional[str]]] = field(default_factory=list)  # (text, description)


@dataclass
class Case:
    state: str
    questions: List[Question]


def invalid(message):
    return Refused("invalid", message)


def read_line(line):
    """The value of a line. Raises Refused."""
    try:
        return parse(line)
    except NotJson as error:
        raise invalid(str(error)) from None


def check(value):
    """A Case out of a line's value. Raises Refused with the first reason there is."""
    if not isinstance(value, dict):
        raise invalid("a case is an object")
    if not isinstance(value.get("state"), (str, dict, list)):
        raise invalid("the state is text, an object or an array")
    questions = value.get("questions")
    if not isinstance(questions, dict) or not questions:
        raise invalid("the questions are an object with at least one member")
    if not is_unicode(value):
        raise invalid("a text is no UTF-8")
    return Case(to_text(value["state"]), [question(qid, asked) for qid, asked in questions.items()])


def question(qid, asked):
    if not isinstance(asked, dict):
        raise invalid(f"{qid}: a question is an object")
    kind = asked.get("type")
    if kind not in ("choice", "score", "noul"):
        raise invalid(f"{qid}: the type is choice, score or noul")
    instructions = text_of(asked.get("instructions", qid), f"{qid}: instructions are")
    if not instructions:
        raise invalid(f"{qid}: the instructions are empty")
    options = {"choice": of_choice, "score": of_score, "noul": of_noul}[kind](qid, asked)
    if len(options) < 2:
        raise invalid(f"{qid}: fewer than two options")
    if any(text == "" for text, _ in options):
        raise invalid(f"{qid}: an option is empty")
    if len(options) > LIMITS.get(kind, 2):
        raise Refused("too_many_options", f"{qid}: {len(options)} options, {LIMITS[kind]} are the most")
    return Question(qid, kind, instructions, options)


def text_of(value, what):
    if not isinstance(value, (str, dict, list)):
        raise invalid(f"{what} text, an object or an array")
    return to_text(value)


def description(value, qid):
    return None if value is None else text_of(value, f"{qid}: a description is null,")


def of_choice(qid, asked):
    criteria = asked.get("criteria")
    if not isinstance(criteria, dict):
        raise invalid(f"{qid}: the criteria of a choice are an object")
    return [(option, description(value, qid)) for option, value in criteria.items()]


def of_score(qid, asked):
    criteria = asked.get("criteria")
    if not isinstance(criteria, list):
        raise invalid(f"{qid}: the criteria of a score are an array")
    return [(text_of(level, f"{qid}: a level is"), None) for level in criteria]


def of_noul(qid, asked):
    """The texts of no and yes are the format's."""
    criteria = asked.get("criteria", {})
    if not isinstance(criteria, dict) or set(criteria) - {"false", "true"}:
        raise invalid(f"{qid}: the criteria of a noul are an object of false and true")
    return [(None, description(criteria.get(key), qid)) for key in ("false", "true")]
