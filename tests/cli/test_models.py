"""`llamavisor models`, and what is loaded along with a model."""

import os
import unittest
from pathlib import Path

import gguf_files
from support import CHAT, TOOL, ProgramTest, engine, model


class Models(ProgramTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "models"
        self.place.mkdir()

    def models(self, *words):
        return self.run_json([TOOL, "models", self.place, *words])

    def test_each_file_is_listed_with_what_it_is(self):
        (self.place / "b").mkdir()
        os.symlink(model(), self.place / "b/tiny.gguf")
        gguf_files.write_adapter(self.place / "a.gguf")
        gguf_files.write_projector(self.place / "mmproj.gguf")
        gguf_files.write(self.place / "words.gguf", gguf_files.model()[0])
        found = self.models()
        self.assertEqual(found["notices"], [])
        self.assertEqual([(Path(each["path"]).name, each["kind"], each["usable"]) for each in found["models"]],
                         [("a.gguf", "adapter", True), ("tiny.gguf", "text", True),
                          ("mmproj.gguf", "projector", True), ("words.gguf", "vocabulary", True)])
        tiny = found["models"][1]
        self.assertEqual(tiny, {
            "path": str(self.place / "b/tiny.gguf"), "kind": "text", "name": "babble-ascii", "architecture": "llama",
            "size_label": None, "parameters": tiny["parameters"], "quantisation": "F32",
            "size": os.path.getsize(model()), "context_length": 8192, "has_chat_template": True, "parts": 1,
            "missing_parts": [], "usable": True, "reason": None})
        self.assertGreater(tiny["parameters"], 100_000)

    def test_what_cannot_be_used_says_why(self):
        whole = Path(model()).read_bytes()
        (self.place / "cut.gguf").write_bytes(whole[:len(whole) // 2])
        (self.place / "page.gguf").write_text("<!DOCTYPE html>")
        os.mkfifo(self.place / "pipe.gguf")
        gguf_files.write_split(self.place, 3)
        (self.place / "tiny-00002-of-00003.gguf").unlink()
        found = self.models()["models"]
        self.assertEqual([each["usable"] for each in found], [False] * 4)
        for each, part in zip(found, ["truncated: ", "a web page", "no regular file", "tiny-00002-of-00003.gguf"]):
            self.assertIn(part, each["reason"])
        self.assertEqual((found[3]["parts"], found[3]["missing_parts"]), (3, ["tiny-00002-of-00003.gguf"]))
        self.assertEqual(found[3]["name"], "babble-ascii")

    def test_bytes_that_are_no_text_do_not_spoil_the_json_or_the_terminal(self):
        broken = gguf_files.tiny.string("general.name") + b"\x08\0\0\0" + b"\x04" + bytes(7) + b"n\xFF\x1B["
        gguf_files.write(self.place / "x.gguf", [broken])
        os.rename(self.place / "x.gguf", os.fsencode(self.place) + b"/\xC3\x28\n\x1B[31m.gguf")
        found = self.models()["models"]
        self.assertEqual(found[0]["name"], "n\uFFFD\x1B[")
        self.assertTrue(found[0]["path"].endswith("/\uFFFD(\n\x1B[31m.gguf"), found[0]["path"])
        table = self.run_program([TOOL, "models", self.place]).stdout
        self.assertEqual(table.count(b"\n"), 2)
        self.assertNotIn(b"\x1B", table)

    def test_a_table_names_the_files_as_seen_from_the_folder(self):
        (self.place / "b").mkdir()
        os.symlink(model(), self.place / "b/tiny.gguf")
        (self.place / "b/bad.gguf").write_bytes(b"")
        (self.place / "b/c").mkdir()
        result = self.run_program([TOOL, "models", str(self.place) + "/", "--depth", "1"])
        lines = result.stdout.decode().splitlines()
        self.assertEqual(lines[0].split()[:2], ["FILE", "KIND"])
        self.assertTrue(lines[1].startswith("b/bad.gguf "), lines)
        self.assertIn("it is empty", lines[1])
        self.assertEqual(lines[2].split()[:4], ["b/tiny.gguf", "text", "llama", "116.9K"])
        self.assertTrue(lines[2].endswith(" usable"), lines)
        self.assert_one_notice(result, "more than 1 levels down")

    def assert_one_notice(self, result, part):
        said = result.stderr.decode()
        self.assertRegex(said, r"\Allamavisor: [^\n]+\n\Z")
        self.assertIn(part, said)

    def test_a_folder_without_models_is_no_error(self):
        result = self.run_program([TOOL, "models", self.place])
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        self.assert_one_notice(result, "no file *.gguf")
        self.assertEqual(self.models(), {"models": [], "notices": []})

    def test_what_is_no_folder_is_an_error(self):
        for folder in (self.place / "none", model()):
            self.assert_error(self.run_program([TOOL, "models", folder]), 1, str(folder), "[model_not_found]")
        self.assert_error(self.run_program([TOOL, "models"]), 2, "folder")
        self.assert_error(self.run_program([TOOL, "models", self.place, "--depth", "-1"]), 2, "--depth")


class Loads(ProgramTest):
    def answer(self, *words, path=None):
        run = [TOOL, "generate", "-m", path or model(), "--engine", engine(), "--threads", "1", "-p", "Hello",
               "--temperature", "0", "--max-tokens", "24", *words]
        return self.run_json(run)["text"]

    def test_a_split_model_answers_as_the_whole_one(self):
        first = gguf_files.write_split(self.folder, 3)
        self.assertEqual(self.answer(path=first), self.answer())

    def test_an_adapter_changes_the_answer_as_strongly_as_its_scale_says(self):
        adapter = gguf_files.write_adapter(self.folder / "adapter.gguf")
        base = self.answer()
        self.assertEqual(self.answer("--adapter", f"{adapter}:0"), base)
        full = self.answer("--adapter", adapter)
        self.assertNotEqual(full, base)
        self.assertEqual(self.answer("--adapter", f"{adapter}:1"), full)
        self.assertNotEqual(self.answer("--adapter", adapter, "--adapter", adapter), full)

    def test_a_path_with_a_colon_takes_the_number_behind_its_last_one_for_the_scale(self):
        gguf_files.write_adapter(self.folder / "a:1")
        run = [TOOL, "generate", "-m", model(), "--engine", engine(), "-p", "x", "--adapter"]
        self.assert_error(self.run_program([*run, f"{self.folder}/a:1"]), 1, "/a: it cannot", "[model_not_found]")
        self.assert_error(self.run_program([*run, f"{self.folder}/a:1:0.5"]), 2, "--adapter: ", "has a colon")
        self.assertNotEqual(self.answer("--adapter", f"{self.folder}/a:1:1"), self.answer())

    def test_what_does_not_belong_to_the_model_is_refused_in_the_words_of_the_command_line(self):
        foreign = gguf_files.write_adapter(self.folder / "foreign.gguf", "qwen2")
        for program in ([TOOL, "generate"], [CHAT]):
            run = [*program, "-m", model(), "--engine", engine(), "-p", "x"]
            self.assert_error(self.run_program([*run, "--adapter", foreign]), 2, "--adapter: ", '"qwen2"')
            self.assert_error(self.run_program([*run, "--adapter", model()]), 2, "a text model, and no adapter")
            self.assert_error(self.run_program([*run, "--adapter", f"{foreign}:inf"]), 2, "--adapter must have finite")
            self.assert_error(self.run_program([*run, "--projector", foreign]), 2, "--projector: ", "no projector")
            run[run.index("-m") + 1] = foreign
            self.assert_error(self.run_program(run), 1, "in --adapter", "[invalid_model]")


if __name__ == "__main__":
    unittest.main()
