"""Goldens that are wrong on purpose: each has to make the gate fail."""

import re

from .errors import ParityError

KINDS = ("bos", "swap", "id", "stale")


class Break:
    """None of its methods changes anything where `kind` is None."""

    def __init__(self, text, gguf):
        match = re.fullmatch(r"logit=(\S+)", text or "")
        try:
            self.by = float(match[1]) if match else 0.0
        except ValueError:
            raise ParityError(f"{match[1]!r} is no number") from None
        self.kind = "logit" if match else text
        if self.kind not in (None, "logit", *KINDS):
            raise ParityError(f"--break is one of {', '.join(KINDS)}, logit=X")
        self.begin, self.vocabulary = gguf.begin_token, gguf.vocabulary
        self.done = False
        self.last = []  # ids of the case before

    def once(self, kind):
        """For what is broken in the first question alone."""
        if self.kind != kind or self.done:
            return False
        self.done = True
        return True

    def prompts(self, prompts):
        """bos: one id too many in front of all. id: the first question's last id is another."""
        for prompt in prompts if self.kind == "bos" else []:
            prompt.ids.insert(0, self.begin)
        if self.once("id"):
            prompts[0].ids[-1] = (prompts[0].ids[-1] + 1) % self.vocabulary

    def sender(self, prompts, shared):
        """stale: what the server sees begins as the case before did, as if its cache had been kept."""
        if self.kind != "stale":
            return lambda ids: ids
        old = self.last[:shared]
        self.last = prompts[0].ids
        return lambda ids: old[:len(ids)] + ids[len(old):]

    def row(self, row):
        """swap: the first two options' logits change places. logit: the first of all is off by X."""
        if self.kind == "swap":
            return [row[1], row[0], *row[2:]]
        return [row[0] + self.by, *row[1:]] if self.once("logit") else row
