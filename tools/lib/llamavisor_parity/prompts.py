"""From cases to ids: the format, the template's frame, the labels (docs/decisions/0006-scores.md)."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import List

from .errors import ParityError

PLACEHOLDER = "x7state7goes7here7x"


class Format:
    """A format's file: `text` as it stands there, `value` as JSON."""

    TEXTS = ("name", "system", "state", "question", "option", "described_option", "answer")

    def __init__(self, path):
        try:
            raw = Path(path).read_bytes()
            self.text = raw.decode()
            self.value = json.loads(self.text)
        except ValueError:
            raise ParityError(f"{path} is no JSON") from None
        good = (isinstance(self.value, dict) and all(isinstance(self.value.get(key), str) for key in self.TEXTS)
                and isinstance(self.value.get("labels"), list) and len(self.value.get("noul", [])) == 2
                and isinstance(self.value.get("hints"), dict) and isinstance(self.value.get("chat"), bool))
        if not good:
            raise ParityError(f"{path} is no prompt format")
        self.sha256 = hashlib.sha256(raw).hexdigest()

    def __getitem__(self, key):
        return self.value[key]


def fill(pattern, **values):
    """Each {name} once, from left to right; what was filled in is not looked at again."""
    return re.sub(r"\{([a-z_]+)\}", lambda match: values.get(match[1], match[0]), pattern)


def question_text(form, question, labels):
    if question.kind == "noul":
        options = list(zip(form["noul"], (description for _, description in question.options)))
    else:
        options = question.options
    lines = []
    for label, (text, description) in zip(labels, options):
        if description is None:
            lines.append(fill(form["option"], label=label, option=text))
        else:
            lines.append(fill(form["described_option"], label=label, option=text, description=description))
    return fill(form["question"], instructions=question.instructions, hint=form["hints"].get(question.kind, ""),
                options="".join(lines))


def numbers(count):
    """1 to `count`, with as many digits each as the last one has."""
    return [str(number).zfill(len(str(count))) for number in range(1, count + 1)]


@dataclass
class Prompt:
    ids: List[int]
    candidates: List[List[int]]  # each option's label


class Frame:
    """What the prompts of one model and format have in common.

    `tokenize(text, add_special, parse_special)` and `render(messages)` ask the server; `render` gives
    None where the server refuses.
    """

    def __init__(self, form, tokenize, render, adds_space):
        self.form, self.tokenize, self.adds_space = form, tokenize, adds_space
        self.newline = tokenize("\n", False, False) if adds_space else []
        self.found_labels = {}
        before, after, self.state_prefix = self.split(render)
        self.before = tokenize(before, True, True) if before else []
        self.after = self.inside(after + form["answer"], True)
        self.text_token = tokenize("a", False, False)[-1]

    def split(self, render):
        """(before, after, what goes in front of the state)."""
        system = self.form["system"]
        if not self.form["chat"]:
            return system + "\n\n" if system else "", "", ""
        if PLACEHOLDER in system:
            raise ParityError("the format's system text holds the placeholder of the state")
        user = {"role": "user", "content": PLACEHOLDER}
        prefix = ""
        text = render([{"role": "system", "content": system}, user] if system else [user])
        if system and (text is None or system not in text):
            text, prefix = render([user]), system + "\n\n"
        if text is None or text.count(PLACEHOLDER) != 1:
            raise ParityError("the model's chat template lets no text through: use a format without chat")
        before, after = text.split(PLACEHOLDER)
        return before, after, prefix

    def inside(self, text, parse_special):
        """Ids of a text that stands inside a prompt: no space of SentencePiece in front."""
        if not text:
            return []
        if self.adds_space:
            ids = self.tokenize("\n" + text, False, parse_special)
            if ids[:len(self.newline)] == self.newline:
                return ids[len(self.newline):]
        return self.tokenize(text, False, parse_special)

    def labels(self, count):
        """(texts, ids) of the first set that serves, or of numbers."""
        if count not in self.found_labels:
            self.found_labels[count] = self.find_labels(count)
        return self.found_labels[count]

    def find_labels(self, count):
        for texts in self.form["labels"]:
            if len(texts) < count:
                continue
            ids = [self.inside(text, False) for text in texts[:count]]
            if all(len(one) == 1 for one in ids) and len({one[0] for one in ids}) == count:
                return texts[:count], ids
        texts = numbers(count)
        return texts, [self.inside(text, False) for text in texts]

    def prompts(self, case):
        state = self.inside(self.state_prefix + fill(self.form["state"], state=case.state), False)
        prompts = []
        for question in case.questions:
            texts, ids = self.labels(len(question.options))
            asked = self.inside(question_text(self.form, question, texts), False)
            prompts.append(Prompt(self.before + state + asked + self.after, ids))
        return prompts


def shared_length(all_ids):
    """P: what all questions begin with, and one less than the shortest at most."""
    shortest = min(map(len, all_ids))
    first = all_ids[0]
    same = 0
    while same < shortest - 1 and all(ids[same] == first[same] for ids in all_ids):
        same += 1
    return same
