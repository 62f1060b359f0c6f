"""GGUF files for the tests of the programs: whole and split models, adapters."""

import io
import random
import struct
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

from support import HERE


def load_tiny():
    """tools/make-tiny-model as a module: it knows how GGUF is written."""
    loader = SourceFileLoader("make_tiny_model", str(HERE.parents[1] / "tools/make-tiny-model"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


tiny = load_tiny()
U16, F32 = 2, 0


def text(key, value):
    return tiny.pair(key, tiny.STRING, value)


def write(path, pairs, tensors=()):
    """`tensors`: (name, dimensions, bytes of F32)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    data = b""
    for name, dimensions, content in tensors:
        head += tiny.string(name) + struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
        head += struct.pack("<IQ", F32, len(data))
        data += content + tiny.padding(len(content))
    path.write_bytes(head + tiny.padding(len(head)) + data)
    return path


def model(ascii_only=True):
    """(pairs, tensors) of the small model."""
    vocabulary = tiny.Vocabulary()
    weights = tiny.Weights(tiny.TINY, vocabulary, ascii_only, 1)
    tensors = []
    for name, kind, (columns, rows) in tiny.TINY.tensors(len(vocabulary)):
        content = io.BytesIO()
        weights.write(content, name, kind, (columns, rows))
        tensors.append((name, (columns,) if rows == 1 else (columns, rows), content.getvalue()))
    return tiny.metadata(tiny.TINY, vocabulary, 8192, ascii_only), tensors


def write_split(folder, parts):
    """The small model in several files; the path of the first."""
    pairs, tensors = model()
    share = -(-len(tensors) // parts)
    for part in range(parts):
        place = [tiny.string(key) + struct.pack("<IH", U16, number)
                 for key, number in (("split.no", part), ("split.count", parts))]
        place.append(tiny.pair("split.tensors.count", tiny.I32, len(tensors)))
        write(folder / f"tiny-{part + 1:05}-of-{parts:05}.gguf", (pairs if part == 0 else []) + place,
              tensors[part * share:(part + 1) * share])
    return folder / f"tiny-00001-of-{parts:05}.gguf"


def write_adapter(path, architecture="llama", rank=4):
    """A LoRA adapter for the small model's queries."""
    drawn = random.Random(1)
    width, tensors = tiny.TINY.width, []
    for layer in range(tiny.TINY.layers):
        for end, dimensions in (("a", (width, rank)), ("b", (rank, width))):
            content = tiny.floats([drawn.random() - 0.5 for _ in range(width * rank)])
            tensors.append((f"blk.{layer}.attn_q.weight.lora_{end}", dimensions, content))
    return write(path, [text("general.architecture", architecture), text("general.type", "adapter"),
                        text("adapter.type", "lora"), tiny.pair("adapter.lora.alpha", tiny.FLOAT, 16.0)], tensors)


def write_projector(path):
    """In name only: enough to be found."""
    return write(path, [text("general.architecture", "clip"), text("general.type", "mmproj"),
                        text("general.name", "an eye")])
