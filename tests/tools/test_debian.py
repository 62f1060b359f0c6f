import json
import unittest
from pathlib import Path
from unittest import mock

from support import FolderTest

from llamavisor_tools import debian, elf
from llamavisor_tools.errors import Damaged, WrongMachine

LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = "ld-linux-x86-64.so.2"


class Gathering(FolderTest):
    """A tree like that of unpacked packages; what a file needs is written in it."""

    def setUp(self):
        super().setUp()
        self.root, self.pack = self.folder / "root", self.folder / "pack"
        self.pack.mkdir()
        self.add("usr/bin/llama-server", "libserver.so libc.so.6")
        self.add("usr/bin/wget", "libpsl.so.5")
        self.add(f"{LIBRARIES}/llama/libserver.so", "libggml.so.0")
        self.add(f"{LIBRARIES}/libggml.so.0.27.0")
        (self.root / LIBRARIES / "libggml.so.0").symlink_to("libggml.so.0.27.0")
        for name in ["libc.so.6", "libpsl.so.5", "libvulkan.so.1", "libamd_comgr.so.3", LOADER]:
            self.add(f"{LIBRARIES}/{name}")
        self.add(f"{LIBRARIES}/ggml/backends0/libggml-cpu-x64.so")
        self.add(f"{LIBRARIES}/ggml/backends0/libggml-vulkan.so", "libvulkan.so.1")
        self.add(f"{LIBRARIES}/ggml/backends0/libggml-hip.so")
        for driver in ["lvp", "radeon", "asahi"]:
            self.add(f"{LIBRARIES}/libvulkan_{driver}.so")
            icd = {"ICD": {"library_path": f"/usr/lib/libvulkan_{driver}.so"}, "file_format_version": "1.0.1"}
            self.add(f"usr/share/vulkan/icd.d/{driver}_icd.json", json.dumps(icd))
        self.add(f"{LIBRARIES}/rocblas/4.4.1/library/kernels_gfx1100.co")
        patches = [mock.patch.object(elf, "needed", lambda path: Path(path).read_text().split()),
                   mock.patch.object(elf, "interpreter", lambda path: f"/lib64/{LOADER}")]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def add(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def gather(self, flavour, programs=("llama-server",)):
        tree = debian.Tree(self.root, "x86_64-linux-gnu")
        loader = tree.gather(self.pack, flavour, ["asahi"], programs)
        self.assertEqual(loader, LOADER)
        return sorted(path.name for path in self.pack.iterdir())

    COMMON = ["libc.so.6", "libggml-cpu-x64.so", "libggml.so.0", "libserver.so", "llama-server", LOADER]

    def test_a_cpu_pack_has_what_its_server_needs_and_no_more(self):
        self.assertEqual(self.gather("cpu"), sorted(self.COMMON))
        self.assertFalse((self.pack / "libggml.so.0").is_symlink())

    def test_a_vulkan_pack_has_the_drivers_of_such_a_machine(self):
        self.assertEqual(self.gather("vulkan"), sorted([
            *self.COMMON, "libggml-vulkan.so", "libvulkan.so.1", "libvulkan_lvp.so", "libvulkan_radeon.so",
            "lvp_icd.json", "radeon_icd.json"]))

    def test_an_icd_file_names_its_driver_relative_to_itself(self):
        self.gather("vulkan")
        icd = json.loads((self.pack / "lvp_icd.json").read_text())
        self.assertEqual(icd["ICD"]["library_path"], "./libvulkan_lvp.so")

    def test_a_hip_pack_has_what_is_only_opened_at_run_time(self):
        names = self.gather("hip")
        self.assertIn("libamd_comgr.so.3", names)
        self.assertIn("libggml-hip.so", names)
        self.assertTrue((self.pack / "rocblas/4.4.1/library/kernels_gfx1100.co").exists())
        self.assertTrue((self.pack / "rocblas/library/kernels_gfx1100.co").exists())

    def test_a_lacking_library_is_named(self):
        (self.root / LIBRARIES / "libc.so.6").unlink()
        with self.assertRaisesRegex(Damaged, "libc.so.6"):
            self.gather("cpu")

    def test_a_lacking_plugin_is_named(self):
        (self.root / LIBRARIES / "ggml/backends0/libggml-vulkan.so").unlink()
        with self.assertRaisesRegex(Damaged, "no ggml plug-in for vulkan"):
            self.gather("vulkan")

    def test_a_link_out_of_the_packages_is_not_followed(self):
        link = self.root / LIBRARIES / "libc.so.6"
        link.unlink()
        link.symlink_to("/etc/passwd")
        with self.assertRaises(Damaged):
            self.gather("cpu")


class Machine(unittest.TestCase):
    def test_other_machines_are_refused(self):
        for system, machine in [("Linux", "riscv64"), ("Darwin", "x86_64"), ("Linux", "i686")]:
            with mock.patch("platform.system", lambda s=system: s), mock.patch("platform.machine", lambda m=machine: m):
                with self.assertRaisesRegex(WrongMachine, machine):
                    debian.architecture()


if __name__ == "__main__":
    unittest.main()
