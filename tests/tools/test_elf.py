import unittest
from unittest import mock

from support import FolderTest

from llamavisor_tools import elf


class Elf(FolderTest):
    def forget(self, data):
        path = self.folder / "libggml.so.0"
        path.write_bytes(data)
        return elf.forget_plugin_folder(path), path.read_bytes()

    def test_a_compiled_in_plugin_folder_leads_nowhere_afterwards(self):
        for text in [b"/usr/lib/x86_64-linux-gnu/ggml/backends0\0", b"/usr/lib/x86_64-linux-gnu/ggml/b\x01\x1b",
                     b"/usr/lib/aarch64-linux-gnu/ggml/", b"/usr/lib/ggml\0", b"/usr/local/lib/ggml\0"]:
            done, data = self.forget(b"before\0" + text + b"after")
            self.assertTrue(done)
            self.assertEqual(data, b"before\0" + elf.NOWHERE + text[len(elf.NOWHERE):] + b"after")

    def test_other_paths_stay(self):
        text = b"/usr/lib/x86_64-linux-gnu/llama\0/usr/share/ggml\0./src/ggml/ggml.c\0"
        self.assertEqual(self.forget(text), (False, text))

    def test_only_elf_magic_makes_an_elf_file(self):
        for name, data, verdict in [("a", b"\x7fELF\2", True), ("b", b"#!/bin/sh", False), ("c", b"", False)]:
            (self.folder / name).write_bytes(data)
            self.assertEqual(elf.is_elf(self.folder / name), verdict)

    def test_closure_follows_needs_once_and_names_what_is_missing(self):
        needs = {"/r/server": ["a", "b"], "/l/a": ["b", "gone"], "/l/b": ["a"]}
        with mock.patch.object(elf, "needed", lambda path: needs[path]):
            found, missing = elf.closure(["/r/server"], lambda name: f"/l/{name}" if name in "ab" else None)
        self.assertEqual(found, {"server": "/r/server", "a": "/l/a", "b": "/l/b"})
        self.assertEqual(missing, {"gone"})


if __name__ == "__main__":
    unittest.main()
