"""What the recorder needs of a GGUF file: some of its keys, and its hash."""

import hashlib
import struct

from .errors import ParityError

SIMPLE = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
LONGEST = 1 << 30  # bytes of one text, members of one list


class Reader:
    def __init__(self, file):
        self.file = file

    def take(self, size):
        content = self.file.read(size)
        if len(content) != size:
            raise ParityError(f"{self.file.name} is cut short")
        return content

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def length(self):
        length = self.number("Q")
        if length > LONGEST:
            raise ParityError(f"{self.file.name} is no GGUF file that can be read")
        return length

    def value(self, kind):
        """Of a list its length alone: no list is needed here."""
        if kind in SIMPLE:
            return self.number(SIMPLE[kind])
        if kind == STRING:
            return self.take(self.length()).decode(errors="replace")
        if kind != ARRAY:
            raise ParityError(f"{self.file.name} has a key of unknown type {kind}")
        of, count = self.number("I"), self.length()
        if of in SIMPLE:
            self.take(count * struct.calcsize("<" + SIMPLE[of]))
        else:
            for _ in range(count):
                self.value(of)
        return count


class Gguf:
    """The keys of a model's first file; a list is told by its length."""

    def __init__(self, path):
        self.keys = {}
        with open(path, "rb") as file:
            reader = Reader(file)
            if reader.take(4) != b"GGUF" or reader.number("I") not in (2, 3):
                raise ParityError(f"{path} is no GGUF file of version 2 or 3")
            reader.number("Q")  # tensors
            for _ in range(reader.length()):
                key = reader.value(STRING)
                self.keys[key] = reader.value(reader.number("I"))

    def of_architecture(self, name):
        return self.keys.get(f"{self.keys.get('general.architecture')}.{name}")

    @property
    def adds_space(self):
        """SentencePiece, which begins every text with a space of its own."""
        return self.keys.get("tokenizer.ggml.model") == "llama"

    @property
    def vocabulary(self):
        return self.keys.get("tokenizer.ggml.tokens", 0)

    @property
    def sliding_window(self):
        return bool(self.of_architecture("attention.sliding_window"))

    @property
    def recurrent(self):
        """Keeps a state that cannot be cut back to a prefix."""
        return bool(self.of_architecture("ssm.state_size") or self.of_architecture("wkv.head_size"))

    @property
    def begin_token(self):
        return self.keys.get("tokenizer.ggml.bos_token_id", 1)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
