"""`llamavisor engines` lists the packs in the order of their use."""

import unittest

from support import TOOL, ProgramTest, write_pack


class Engines(ProgramTest):
    def setUp(self):
        super().setUp()
        self.packs = self.folder / "packs"
        self.packs.mkdir()
        self.environment.update(LLAMAVISOR_ENGINE_PATH=str(self.packs), XDG_DATA_HOME=str(self.folder / "data"))

    def test_both_places_are_listed_the_named_one_first(self):
        own = write_pack(self.packs / "mine", build=7001, version="0.0.2 (build 7001)")
        users = write_pack(self.folder / "data/llamavisor/engines/vulkan", flavour="vulkan")
        listed = self.run_json([TOOL, "engines"])
        seen = [(pack["flavour"], pack["build"], pack["version"], pack["folder"], pack["source"]) for pack in listed]
        self.assertEqual(seen[:2], [("cpu", 7001, "0.0.2 (build 7001)", str(own), "system"),
                                    ("vulkan", 7000, "0.0.1 (build 7000)", str(users), "system")])
        lines = self.run_program([TOOL, "engines"]).stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["FLAVOUR", "BUILD", "VERSION", "SOURCE", "FOLDER"])
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


if __name__ == "__main__":
    unittest.main()
