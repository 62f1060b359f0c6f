import hashlib
import os
import struct
import unittest
from unittest import mock

from support import FolderTest, load_script

make_tiny_model = load_script("make-tiny-model")

# The bytes are a promise: recorded texts and scores elsewhere rest on them.
TINY = "f1a13976caea12273e24c40b9ba5aa181eaff28c469d88943f31bc3e1ec46447"
TINY_ASCII = "2205ca03f128e5b906428d23202b56a21a81809e5ab71090817a8afc871a57a0"


def read_gguf(data):
    """(metadata, {tensor: (dimensions, type, offset)}, where the data begin); a second reading of the format."""
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return data[at - size:at].decode()

    def item(kind):
        if kind == 8:
            return text()
        if kind == 9:
            inner, count = take("IQ")
            return [item(inner) for _ in range(count)]
        return take({4: "I", 5: "i", 6: "f", 7: "?"}[kind])

    assert data[:4] == b"GGUF"
    at = 4
    version, tensor_count, pair_count = take("IQQ")
    assert version == 3
    metadata = {}
    for _ in range(pair_count):
        key = text()
        metadata[key] = item(take("I"))
    tensors = {}
    for _ in range(tensor_count):
        name = text()
        dimensions = [take("Q") for _ in range(take("I"))]
        kind, offset = take("IQ")
        tensors[name] = (dimensions, kind, offset)
    return metadata, tensors, at + -at % 32


class Model(FolderTest):
    def make(self, *words, name="model.gguf"):
        path = self.folder / name
        self.assertEqual(make_tiny_model.main([str(path), *words]), 0)
        return path.read_bytes()

    def test_the_same_arguments_give_the_same_bytes_everywhere(self):
        self.assertEqual(hashlib.sha256(self.make()).hexdigest(), TINY)
        self.assertEqual(hashlib.sha256(self.make("--ascii")).hexdigest(), TINY_ASCII)

    def test_another_seed_gives_another_model(self):
        self.assertNotEqual(self.make(), self.make("--seed", "2"))

    def test_the_file_says_what_the_server_needs_to_know(self):
        metadata, tensors, start = read_gguf(self.make("--context", "512"))
        self.assertEqual(metadata["general.architecture"], "llama")
        self.assertEqual(metadata["llama.context_length"], 512)
        self.assertEqual(len(metadata["tokenizer.ggml.tokens"]), metadata["llama.vocab_size"])
        self.assertEqual(len(metadata["tokenizer.ggml.token_type"]), metadata["llama.vocab_size"])
        for name in ["bos", "eos", "eot"]:
            self.assertEqual(metadata["tokenizer.ggml.token_type"][metadata[f"tokenizer.ggml.{name}_token_id"]], 3)
        self.assertIn("<|im_start|>", metadata["tokenizer.chat_template"])
        self.assertEqual(len(tensors), 3 + 9 * 2)

    def test_the_tensors_fill_the_file_exactly(self):
        for words in [[], ["--scale", "2M"]]:
            data = self.make(*words)
            _, tensors, end = read_gguf(data)
            start = end
            for dimensions, kind, offset in tensors.values():
                self.assertEqual(end, start + offset)
                count = dimensions[0] * (dimensions[1:] or [1])[0]
                size = count * 4 if kind == 0 else count // 32 * 34
                end += size + -size % 32
            self.assertEqual(end, len(data))

    def test_a_scaled_model_has_about_the_size_asked_for(self):
        for words, size in [("3M", 3 << 20), ("20M", 20 << 20), ("130M", 130 << 20)]:
            self.assertAlmostEqual(len(self.make("--scale", words)) / size, 1, delta=0.03)

    def test_shapes_of_any_scale_come_close(self):
        for size in [1 << 30, 3 << 30, 5 << 30, 40 << 30]:
            shape = make_tiny_model.scaled_shape(size, 335)
            self.assertAlmostEqual(make_tiny_model.data_bytes(shape, 335) / size, 1, delta=0.01)
            self.assertEqual(shape.width % shape.heads, 0)

    def test_each_byte_is_its_own_token(self):
        vocabulary = make_tiny_model.Vocabulary()
        self.assertEqual([vocabulary.spellings[byte] for byte in range(256)], [bytes([b]) for b in range(256)])
        self.assertEqual(len(set(vocabulary.texts)), len(vocabulary))
        self.assertEqual(vocabulary.texts[ord(" ")], "\u0120")

    def test_only_printable_ascii_is_welcome_in_an_ascii_model(self):
        vocabulary = make_tiny_model.Vocabulary()
        for token in range(vocabulary.first_control):
            printable = all(0x20 <= byte <= 0x7E for byte in vocabulary.spellings[token])
            self.assertEqual(vocabulary.preference(token, ascii_only=True) > 0, printable)
        for token in range(vocabulary.first_control, len(vocabulary)):
            self.assertEqual(vocabulary.preference(token, ascii_only=False), -1)

    def test_a_failure_leaves_nothing_behind(self):
        with mock.patch.object(make_tiny_model.Weights, "write", side_effect=OSError(28, "No space left on device")):
            self.assertEqual(make_tiny_model.main([str(self.folder / "x.gguf")]), 1)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIn("No space left on device", self.err.getvalue())

    def test_bad_arguments_are_status_two(self):
        for words in [["--scale", "1"], ["--scale", "big"], ["--context", "1"], ["--context", "x"], ["--seed", "x"]]:
            with self.assertRaises(SystemExit) as end:
                make_tiny_model.main([str(self.folder / "x"), *words])
            self.assertEqual(end.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
