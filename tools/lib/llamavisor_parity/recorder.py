"""Records goldens: one line for each case, in the order of the cases."""

import hashlib
import os
import shlex
import time
from pathlib import Path

from llamavisor_tools.pack import Pack
from llamavisor_tools.progress import Progress, say

from .breaks import Break
from .cases import check, read_line
from .errors import ParityError, Refused
from .goldens import Aside, check_name, line, meta_path, write_meta
from .gguf import Gguf, sha256
from .prompts import Format, Frame
from .rows import Slot
from .server import Device, StockServer, arguments, driver, hardware
from .texts import is_unicode


def lines_of(path):
    """The lines of a file of cases that are not blank, as text."""
    with open(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                raise ParityError(f"{path}, line {number} is no UTF-8") from None
            if text.strip():
                yield text.strip("\r\n")


class Counts:
    def __init__(self):
        self.cases = self.rejected = self.questions = 0

    def add(self, golden):
        self.cases += 1
        self.rejected += "error" in golden
        self.questions += len(golden.get("rows", []))

    def __str__(self):
        return f"{self.cases} cases ({self.rejected} rejected), {self.questions} questions"


class Recorder:
    def __init__(self, server, gguf, form, breaking, say_plan="reference"):
        self.server, self.gguf, self.breaking, self.cold = server, gguf, breaking, say_plan == "cold"
        self.context = server.context()
        self.frame = Frame(form, server.tokenize, server.render, gguf.adds_space)

    def golden(self, text):
        """The golden of one line of cases."""
        value, golden = None, {}
        try:
            value = read_line(text)
            golden = self.whole(value, text)
            return dict(golden, rows=self.rows(value, check(value)))
        except Refused as refusal:
            return dict(golden or self.whole(value, text), error=refusal.code, message=refusal.message)

    @staticmethod
    def whole(value, text):
        """What a golden repeats of its case: its members, or the line where those would not be the same again."""
        if not isinstance(value, dict) or not is_unicode(value):
            return {"id": None, "line": text}
        return {"id": None, **{key: value[key] for key in ("id", "state", "questions") if key in value}}

    def rows(self, value, case):
        prompts = self.frame.prompts(case)
        for question, prompt in zip(case.questions, prompts):
            if len(prompt.ids) >= self.context:
                raise Refused("too_long", f"{question.qid}: {len(prompt.ids)} tokens, and the context has "
                                          f"{self.context}")
        self.breaking.prompts(prompts)
        slot = Slot(self.server, self.gguf.vocabulary, self.frame.text_token, self.cold, prompts)
        slot.sent = self.breaking.sender(prompts, slot.shared)
        found = []
        for question, prompt, (row, order) in zip(case.questions, prompts, slot.rows()):
            found.append({"qid": question.qid, "ids": prompt.ids, "P": slot.shared,
                          "candidates": prompt.candidates, "wire_order": order,
                          "option_logits": self.breaking.row(row)})
        return found


def command_of(options):
    """The same again, on whatever machine."""
    words = ["record-goldens", "-m", Path(options.model).name, "--engine", "PACK", "--device", options.device, "--in",
             Path(options.cases).name, "--out", Path(options.out).name, "-c", str(options.context), "-t",
             str(options.threads)]
    if options.own_format:
        words += ["--format", Path(options.format).name]
    return shlex.join(words + (["--break", options.breaking] if options.breaking else []))


def record(options):
    """Writes the goldens and their meta.json; prints nothing but progress. The Counts."""
    device = Device(options.device)
    check_name(options.out, device.kind)
    gguf = Gguf(options.model)
    form = Format(options.format)
    breaking = Break(options.breaking, gguf)
    pack = Pack.read(os.path.realpath(options.engine))
    name = hardware(pack, device)
    words = arguments(pack, device, gguf, options.context, options.threads)
    plan = "cold" if gguf.recurrent else "reference"
    total = sum(1 for _ in lines_of(options.cases))
    if not total:
        raise ParityError(f"{options.cases} holds no case")
    counts, cases_digest = Counts(), hashlib.sha256()
    began = time.monotonic()
    with StockServer(pack, words, options.model) as server, Aside(options.out) as out:
        recorder = Recorder(server, gguf, form, breaking, plan)
        say(f"build {pack['build']} is ready on {device.name} ({name}), {recorder.context} tokens of context")
        with Progress("recorded", total, str) as progress:
            for text in lines_of(options.cases):
                golden = recorder.golden(text)
                counts.add(golden)
                out.write(line(golden))
                progress.add(1)
    write_meta(meta_path(options.out), {
        "parity": 1,
        "server": {"build": pack["build"], "version": pack["version"], "flavour": pack["flavour"]},
        "device": {"class": device.kind, "name": device.name, "hardware": name, "driver": driver(device, name)},
        "args": words,
        "model": Path(options.model).name,
        "gguf_sha256": sha256(options.model),
        "context": recorder.context,
        "plan": plan,
        "format": {"name": form["name"], "sha256": form.sha256, "text": form.text},
        "cases": {"file": Path(options.cases).name, "sha256": sha256(options.cases), "count": counts.cases,
                  "rejected": counts.rejected, "questions": counts.questions},
        "goldens": {"file": Path(options.out).name, "sha256": out.digest.hexdigest()},
        "broken": options.breaking,
        "command": command_of(options),
    })
    say(f"{counts} on {device.name} in {time.monotonic() - began:.1f}s")
    return counts
