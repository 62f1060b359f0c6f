"""The requests of a case, and the rows that they give (docs/decisions/0006-scores.md)."""

import math

from .errors import ParityError
from .prompts import shared_length

SMALLEST = 1e-30  # below it a probability has lost digits
BIASES = (100.0, 1000.0)


def log_softmax(row):
    """In doubles and in the order of the options: sum() of newer Pythons would round otherwise."""
    most = max(row)
    total = 0.0
    for value in row:
        total += math.exp(value - most)
    shift = math.log(total)
    return [value - most - shift for value in row]


def tree_edges(options):
    """[(path, next id)] depth first, children in the order of their first option."""
    edges = []

    def grow(members, depth):
        children = {}
        for option in members:
            if len(option) > depth:
                children.setdefault(option[depth], []).append(option)
        for token, below in children.items():
            edges.append((tuple(below[0][:depth]), token))
            grow(below, depth + 1)

    grow([tuple(option) for option in options], 0)
    return edges


def probabilities(answer):
    """completion_probabilities[0], or None where the server gives none."""
    given = answer.get("completion_probabilities") or [None]
    return given[0] or None


class Slot:
    """The server's one slot, for the questions of one case, one after the other.

    `sent` may change the ids on their way to the server, for goldens that are wrong on purpose.
    """

    def __init__(self, server, vocabulary, text_token, cold, prompts, sent=lambda ids: ids):
        self.server, self.vocabulary, self.text_token, self.sent = server, vocabulary, text_token, sent
        self.prompts = prompts
        self.shared = shared_length([prompt.ids for prompt in prompts])
        self.cold = cold or len(prompts) == 1
        self.there = None  # id at place P of the question that the slot holds

    def rows(self):
        """[(option logits, the options' places as the server listed them)]"""
        found = []
        if not self.cold:
            self.prefix()
        for number, prompt in enumerate(self.prompts):
            if number:
                self.barrier(prompt)
            single = all(len(label) == 1 for label in prompt.candidates)
            row, order = self.row(prompt) if single else (self.walk(prompt), [])
            found.append((log_softmax(row), order))
        return found

    # ---- requests

    def complete(self, ids, **options):
        return self.server.complete(self.sent(ids), cache_prompt=not self.cold, **options)

    def prefix(self):
        ids = self.sent(self.prompts[0].ids[:self.shared])
        self.server.complete(ids, cache_prompt=False, samplers=["top_k"], top_k=1)
        self.there = None

    def barrier(self, prompt):
        """Cuts the cache back to P: an id follows there that neither question has."""
        if self.cold:
            return
        taken = {self.there, prompt.ids[self.shared]}
        other = next(token for token in range(3) if token not in taken)
        self.complete(prompt.ids[:self.shared] + [other], samplers=["top_k"], top_k=1)
        self.there = other

    def question(self, prompt, ids, **options):
        """Asks with the cache cut to P; once more from the prefix on, where it was cut elsewhere."""
        expected = 0 if self.cold else self.shared
        for attempt in range(2):
            if attempt and not self.cold:
                self.prefix()
            answer = self.complete(ids, **options)
            self.there = prompt.ids[self.shared]
            if answer["timings"]["cache_n"] == expected:
                return answer
        raise ParityError(f"the server kept {answer['timings']['cache_n']} tokens, not {expected}")

    # ---- labels of one token

    def row(self, prompt):
        candidates = [label[0] for label in prompt.candidates]
        count = len(candidates)
        for number, bias in enumerate(BIASES):
            if number:
                self.barrier(prompt)
            given = probabilities(self.question(
                prompt, prompt.ids, n_probs=count, post_sampling_probs=True, top_k=count, temperature=1.0,
                samplers=["top_k", "temperature"], logit_bias=[[token, bias] for token in candidates]))
            if given is None:
                return self.whole_row(prompt, candidates)
            found = {entry["id"]: entry["prob"] for entry in given["top_probs"]}
            if all(token in found for token in candidates):
                if min(found[token] for token in candidates) < SMALLEST:
                    return self.whole_row(prompt, candidates)
                order = [candidates.index(entry["id"]) for entry in given["top_probs"] if entry["id"] in candidates]
                return [math.log(found[token]) for token in candidates], order
        raise ParityError("an option is missing in the server's answer, twice")

    def whole_row(self, prompt, candidates):
        self.barrier(prompt)
        listed = self.vocabulary_of(self.question(prompt, prompt.ids, **self.whole()))
        if any(token not in listed for token in candidates):
            raise ParityError("an option is missing among the whole vocabulary's probabilities")
        order = [candidates.index(token) for token in listed if token in candidates]
        return [listed[token] for token in candidates], order

    def whole(self):
        return {"n_probs": self.vocabulary, "temperature": 0, "logit_bias": [[self.text_token, 100.0]]}

    def vocabulary_of(self, answer):
        given = probabilities(answer)
        if given is None:
            raise ParityError("the server gives no probabilities")
        return {entry["id"]: entry["logprob"] for entry in given["top_logprobs"]}

    # ---- labels of several tokens

    def walk(self, prompt):
        scores = {}
        for path, token in tree_edges(prompt.candidates):
            before = scores[path] if path else 0.0
            scores[path + (token,)] = before + self.edge(prompt, list(path), token, first=not scores)
        return [scores[tuple(label)] for label in prompt.candidates]

    def edge(self, prompt, path, token, first):
        ids = prompt.ids + path
        options = {"n_probs": 1, "temperature": 0, "logit_bias": [[token, 1000.0]]}
        answer = self.question(prompt, ids, **options) if first else self.complete(ids, **options)
        given = probabilities(answer)
        if given is None:
            return self.vocabulary_of(self.complete(ids, **self.whole()))[token]
        if given["id"] != token:
            raise ParityError(f"the server sampled token {given['id']} where {token} was forced")
        return given["logprob"]
