"""`llamavisor engines` lists the packs in the order of their use."""

import unittest

from support import TOOL, ProgramTest, write_pack


class Engines(ProgramTest):
    def setUp(self):
        super().setUp()
        self.packs = self.folder / "packs"
        self.packs.mkdir()
        self.environment.update(LLAMAVISOR_ENGINE_PATH=str(self.packs), XDG_DATA_HOME=str(self.folder / "data"),
                                PATH=str(self.folder / "bin"))

    def test_both_places_are_listed_the_named_one_first(self):
        own = write_pack(self.packs / "mine", build=7001, version="0.0.2 (build 7001)")
        users = write_pack(self.folder / "data/llamavisor/engines/vulkan", flavour="vulkan")
        listed = self.run_json([TOOL, "engines"])
        seen = [(pack["flavour"], pack["build"], pack["version"], pack["folder"], pack["source"]) for pack in listed]
        self.assertEqual(seen[:2], [("cpu", 7001, "0.0.2 (build 7001)", str(own), "system"),
                                    ("vulkan", 7000, "0.0.1 (build 7000)", str(users), "system")])
        lines = self.run_program([TOOL, "engines"]).stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["FLAVOUR", "BUILD", "VERSION", "SOURCE", "FOUND", "BY", "FOLDER"])
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["cpu", "vulkan"])
        self.assertTrue(lines[1].endswith(str(own)), lines[1])

    def test_where_there_is_none_the_command_to_get_one_is_named(self):
        del self.environment["LLAMAVISOR_ENGINE_PATH"]
        result = self.run_program([TOOL, "engines"])
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        self.assertIn(b"tools/get-engine", result.stderr)
        self.assertEqual(self.run_json([TOOL, "engines"]), [])

    def test_a_broken_pack_that_was_named_is_an_error(self):
        pack = write_pack(self.packs / "mine")
        (pack / "llama-server").unlink()
        self.environment["LLAMAVISOR_ENGINE_PATH"] = str(pack)
        self.assert_error(self.run_program([TOOL, "engines"]), 1, str(pack), "tools/get-engine", "[engine_broken]")

    def test_the_servers_of_rocm_and_of_the_path_are_listed_with_where_they_were_found(self):
        write_pack(self.packs / "mine")
        for name, content in (("rocm", b"#!/bin/sh\n"), ("bin", b"\x7fELF")):
            (self.folder / name).mkdir()
            (self.folder / name / "llama-server").write_bytes(content)
            (self.folder / name / "llama-server").chmod(0o755)
        (self.folder / "bin/libggml-vulkan.so").touch()
        self.environment["ROCM_LLAMA_SERVER_PATH"] = str(self.folder / "rocm/llama-server")
        seen = [(pack["flavour"], pack["found_by"], pack["source"], pack["command"])
                for pack in self.run_json([TOOL, "engines"]) if pack["found_by"] != "prefix"]
        self.assertEqual(seen, [
            ("cpu", "LLAMAVISOR_ENGINE_PATH", "system", [str(self.packs / "mine/llama-server")]),
            ("hip", "ROCM_LLAMA_SERVER_PATH", "plain", [str(self.folder / "rocm/llama-server")]),
            ("vulkan", "PATH", "plain", [str(self.folder / "bin/llama-server")])])
        text = self.run_program([TOOL, "engines"]).stdout.decode()
        self.assertRegex(text, r"(?m)^hip +- +- +plain +ROCM_LLAMA_SERVER_PATH +/")

    def test_a_rocm_server_that_does_not_work_is_an_error_that_names_the_variable(self):
        write_pack(self.packs / "mine", flavour="hip")
        self.environment["ROCM_LLAMA_SERVER_PATH"] = str(self.folder / "nowhere")
        self.assert_error(self.run_program([TOOL, "engines"]), 1, "ROCM_LLAMA_SERVER_PATH=" + str(self.folder / "nowhere"),
                          "no such file", "[engine_broken]")


if __name__ == "__main__":
    unittest.main()
