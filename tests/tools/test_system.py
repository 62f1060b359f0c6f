import os
import unittest
from pathlib import Path
from unittest import mock

from support import FolderTest

from llamavisor_tools import system
from llamavisor_tools.errors import NotAvailable


class System(FolderTest):
    def test_no_server_on_path_is_said(self):
        with mock.patch.dict(os.environ, PATH=str(self.folder)):
            with self.assertRaisesRegex(NotAvailable, "no llama-server on PATH"):
                system.find_server()

    def test_a_script_is_refused(self):
        (self.folder / "llama-server").write_text("#!/bin/sh\n")
        (self.folder / "llama-server").chmod(0o755)
        with mock.patch.dict(os.environ, PATH=str(self.folder)):
            with self.assertRaisesRegex(NotAvailable, "is no program but a script"):
                system.find_server()

    def test_own_libraries_travel_and_the_systems_stay(self):
        for name, place, verdict in [
            ("libllama.so.0", "/usr/lib/x86_64-linux-gnu/libllama.so.0", True),
            ("libggml-base.so.0", "/usr/lib/libggml-base.so.0", True),
            ("libfoo.so", "/opt/llama/lib/libfoo.so", True),
            ("libssl.so.3", "/usr/lib/x86_64-linux-gnu/libssl.so.3", False),
            ("libc.so.6", "/lib64/libc.so.6", False),
        ]:
            with mock.patch("os.path.realpath", lambda path: str(path)):
                self.assertEqual(system.travels(name, Path(place)), verdict, name)

    def test_a_server_linked_with_a_gpu_makes_no_cpu_pack(self):
        for name in ["libggml-cuda.so.0", "libcuda.so.1", "libvulkan.so.1", "libamdhip64.so.6"]:
            with self.assertRaisesRegex(NotAvailable, name):
                system.refuse_wrong_libraries({name: Path("/x")}, [], "cpu")
        system.refuse_wrong_libraries({"libggml-cpu.so.0": Path("/x"), "libc.so.6": Path("/y")}, [], "cpu")

    def test_a_gpu_pack_needs_its_back_end(self):
        with self.assertRaisesRegex(NotAvailable, "no vulkan back end"):
            system.refuse_wrong_libraries({"libggml-hip.so": Path("/x")}, [], "vulkan")
        system.refuse_wrong_libraries({}, [Path("/x/libggml-vulkan.so")], "vulkan")
        system.refuse_wrong_libraries({"libamdhip64.so.6": Path("/x")}, [], "hip")

    def test_only_wanted_plugins_are_chosen(self):
        for name in ["cpu-x64", "vulkan", "hip", "base", "blas"]:
            (self.folder / f"libggml-{name}.so").write_text("")
        with mock.patch.object(system, "linked_libraries", lambda _: {}):
            for flavour, more in [("cpu", []), ("vulkan", ["libggml-vulkan.so"])]:
                chosen = system.choose_plugins(self.folder / "llama-server", flavour)
                self.assertEqual([path.name for path in chosen], ["libggml-blas.so", "libggml-cpu-x64.so", *more])


if __name__ == "__main__":
    unittest.main()
