import unittest

from support import FolderTest, write_kfd

from llamavisor_tools import kfd
from llamavisor_tools.errors import EngineError


class Kfd(FolderTest):
    def read(self, versions, **environment):
        write_kfd(self.folder, versions)
        return [(gpu.gfx, gpu.effective_gfx) for gpu in kfd.gpus(self.folder, environment)]

    def test_versions_get_their_names(self):
        for version, name in [(110000, "gfx1100"), (110003, "gfx1103"), (110501, "gfx1151"), (120001, "gfx1201"),
                              (100300, "gfx1030"), (90402, "gfx942"), (90010, "gfx90a"), (80003, "gfx803"),
                              (0, None), (640000, None), (91600, None), (90016, None)]:
            self.assertEqual(kfd.gfx_name(version), name, version)

    def test_nodes_count_as_numbers_and_processors_are_no_gpus(self):
        found = self.read({0: 0, 1: 110000, 2: 120001, 10: 90402})
        self.assertEqual(found, [("gfx1100", "gfx1100"), ("gfx1201", "gfx1201"), ("gfx942", "gfx942")])

    def test_a_machine_without_the_driver_has_none(self):
        self.assertEqual(kfd.gpus(self.folder, {"HSA_OVERRIDE_GFX_VERSION": "nonsense"}), [])

    def test_what_is_no_node_and_what_cannot_be_read_is_passed_over(self):
        nodes = write_kfd(self.folder, {1: 110000})
        (nodes / "generation_id").write_text("2")
        (nodes / "2").mkdir()
        (nodes / "3/properties").mkdir(parents=True)
        (nodes / "4").mkdir()
        (nodes / "4/properties").write_bytes(b"\xff\xfe gfx_target_version x\ngfx_target_version\n" + bytes(1 << 20))
        self.assertEqual([gpu.gfx for gpu in kfd.gpus(self.folder, {})], ["gfx1100"])

    def test_an_override_counts_for_all_and_one_with_a_node_for_that_node(self):
        found = self.read({1: 110001, 2: 100301}, HSA_OVERRIDE_GFX_VERSION="11.0.0",
                          HSA_OVERRIDE_GFX_VERSION_2="10.3.0", HSA_OVERRIDE_GFX_VERSION_x="nonsense")
        self.assertEqual(found, [("gfx1101", "gfx1100"), ("gfx1031", "gfx1030")])

    def test_an_empty_override_is_none(self):
        self.assertEqual(self.read({1: 110001}, HSA_OVERRIDE_GFX_VERSION=""), [("gfx1101", "gfx1101")])

    def test_a_malformed_override_is_an_error_that_names_the_variable(self):
        for name in ["HSA_OVERRIDE_GFX_VERSION", "HSA_OVERRIDE_GFX_VERSION_1"]:
            for text in ["11.0", "gfx1100", "11.0.0.0", "64.0.0", "11.256.0", "11.0.-1", "11.0.0\n", "١١.0.0"]:
                with self.assertRaisesRegex(EngineError, f"^{name}=", msg=text):
                    self.read({1: 110001}, **{name: text})


if __name__ == "__main__":
    unittest.main()
