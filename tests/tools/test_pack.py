import os
import shutil
import tempfile
import unittest
from pathlib import Path

from support import FolderTest, write_pack

from llamavisor_tools import pack as packs
from llamavisor_tools.errors import Damaged
from llamavisor_tools.pack import Pack

HELP = """\
----- common params -----

-h,    --help, --usage                  print usage and exit
-m,    --model FNAME                    model path, see -x, --not-a-flag
-kvu,  --kv-unified, -no-kvu, --no-kv-unified
                                        use one buffer
                                        -indented is no flag
--tools TOOL1,TOOL2,...                 experimental
--host HOST                             address
--port PORT                             port
--fim-qwen-1.5b-default                 a name with a dot
"""


class Answers(unittest.TestCase):
    def test_the_build_is_found_in_new_and_old_versions(self):
        new = "version: 0.7.0 (build 11669, commit Debian)\nbuilt with GNU 16.2.0 for Linux x86_64\n"
        self.assertEqual(packs.parse_version(new), (11669, "0.7.0 (build 11669, commit Debian)"))
        self.assertEqual(packs.parse_version("ggml: noise\nversion: 5882 (ab12)\n"), (5882, "5882 (ab12)"))
        with self.assertRaises(Damaged):
            packs.parse_version("version: unknown\n")

    def test_flags_are_those_at_the_beginning_of_a_line(self):
        self.assertEqual(packs.parse_flags(HELP), sorted([
            "-h", "--help", "--usage", "-m", "--model", "-kvu", "--kv-unified", "-no-kvu", "--no-kv-unified",
            "--tools", "--host", "--port", "--fim-qwen-1.5b-default"]))
        with self.assertRaises(Damaged):
            packs.parse_flags("-h, --help\n")

    def test_gfx_targets_are_those_that_the_plugin_and_rocblas_both_have(self):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            bundle = b"\0__CLANG_OFFLOAD_BUNDLE__\0host-x86_64-unknown-linux--\0"
            for target in (b"gfx90a:sramecc+:xnack-", b"gfx1100", b"gfx1201"):
                bundle += b"hipv4-amdgcn-amd-amdhsa--" + target + b"\0"
            (folder / "libggml-hip.so").write_bytes(bundle)
            self.assertEqual(packs.gfx_targets(folder), ["gfx90a", "gfx1100", "gfx1201"])
            for place in ("rocblas/library", "rocblas/4.4.1/library"):
                library = folder / place
                library.mkdir(parents=True)
                for name in ("Kernels.so-000-gfx1100.hsaco", "TensileLibrary_gfx90a.dat", "x_gfx1030.co"):
                    (library / name).write_bytes(b"")
                self.assertEqual(packs.gfx_targets(folder), ["gfx90a", "gfx1100"])
                shutil.rmtree(library)

    def test_gfx_targets_that_cannot_be_told_are_none(self):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            self.assertEqual(packs.gfx_targets(folder), [])
            for content in (b"CCOB\2\0 compressed", b"hipv4-amdgcn-amd-amdhsa--gfx1100\0hipv4-amdgcn-amd-amdhsa--gfx11-generic"):
                (folder / "libggml-hip.so").write_bytes(content)
                self.assertEqual(packs.gfx_targets(folder), [])

    def test_devices_are_named_or_none(self):
        self.assertEqual(packs.parse_devices("Available devices:\n  (none)\n"), [])
        self.assertEqual(packs.parse_devices(
            "noise: x\nAvailable devices:\n  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 23718 MiB free)\n"
            "  ROCm1: card (1 MiB, 1 MiB free)\n"), ["Vulkan0", "ROCm1"])

    def test_gpu_plugins_are_told_from_cpu_ones(self):
        cpu = ["libggml-cpu-zen4.so", "libggml-cpu.so", "libggml-base.so.0", "libggml.so.0", "libggml-blas.so"]
        gpu = ["libggml-hip.so", "libggml-vulkan.so", "libggml-cuda.so.0", "libggml-rpc.so"]
        self.assertEqual(packs.gpu_plugins(cpu + gpu), sorted(gpu))


class Verification(FolderTest):
    def setUp(self):
        super().setUp()
        self.pack = Pack.read(write_pack(self.folder / "cpu"))

    def damaged(self, text):
        return self.assertRaisesRegex(Damaged, text)

    def test_a_whole_pack_passes(self):
        self.pack.check_quickly()
        self.pack.check_hashes(self.pack["files"])

    def test_a_lost_file_is_found(self):
        (self.pack.folder / "libggml-cpu-x64.so").unlink()
        with self.damaged("libggml-cpu-x64.so is missing"):
            self.pack.check_quickly()

    def test_a_file_that_does_not_belong_is_found(self):
        (self.pack.folder / "libggml-vulkan.so").write_bytes(b"")
        with self.damaged("libggml-vulkan.so does not belong"):
            self.pack.check_quickly()

    def test_a_changed_file_is_found(self):
        (self.pack.folder / "libggml-cpu-x64.so").write_bytes(b"edoc")
        os.utime(self.pack.folder / "libggml-cpu-x64.so", ns=(1 << 62, 1 << 62))
        with self.damaged("libggml-cpu-x64.so has changed"):
            self.pack.check_quickly()

    def test_a_copied_pack_is_hashed_once(self):
        written = (self.pack.folder / "engine.json").stat().st_mtime_ns
        os.utime(self.pack.folder / "llama-server", ns=(written + 1, written + 1))
        self.pack.check_quickly()
        self.assertGreater((self.pack.folder / "engine.json").stat().st_mtime_ns, written)

    def test_what_is_no_pack_is_said_so(self):
        with self.damaged("is no pack"):
            Pack.read(self.folder)
        for text in ["{", "[]", "{}", '{"format": 2}', '{"format": 1, "flavour": 3}']:
            (self.folder / "engine.json").write_text(text)
            with self.assertRaises(Damaged):
                Pack.read(self.folder)


class Making(FolderTest):
    def describe(self, flavour="cpu"):
        return Pack.describe(self.folder / "cpu", self.folder / "final", flavour, None, {"kind": "system"})

    def test_what_is_described_can_be_read_back(self):
        write_pack(self.folder / "cpu")
        self.describe()
        pack = Pack.read(self.folder / "cpu")
        self.assertEqual((pack["build"], pack["version"]), (11669, "0.7.0 (build 11669, commit abc)"))
        self.assertEqual(pack["flags"], ["--host", "--model", "--port", "-m"])
        self.assertEqual(pack["path"], str(self.folder / "final"))
        self.assertTrue(pack.is_moved())
        pack.check_quickly()

    def test_a_cpu_pack_with_a_gpu_plugin_is_refused(self):
        write_pack(self.folder / "cpu")
        (self.folder / "cpu/libggml-hip.so").write_bytes(b"")
        with self.assertRaisesRegex(Damaged, "must hold no GPU plug-in"):
            self.describe()
        self.describe("hip")

    def test_a_cpu_pack_that_lists_a_device_is_refused(self):
        server = write_pack(self.folder / "cpu") / "llama-server"
        server.write_text(server.read_text().replace("  (none)", "  CUDA0: card (1 MiB, 1 MiB free)"))
        with self.assertRaisesRegex(Damaged, "lists CUDA0"):
            self.describe()

    def test_a_server_that_dies_is_damage_with_its_last_words(self):
        server = write_pack(self.folder / "cpu") / "llama-server"
        server.write_text("#!/bin/sh\necho 'libx.so: cannot open shared object file' >&2\nexit 127\n")
        with self.assertRaisesRegex(Damaged, "status 127: libx.so: cannot open"):
            self.describe()

    def test_the_hosts_settings_do_not_reach_the_server(self):
        server = write_pack(self.folder / "cpu") / "llama-server"
        server.write_text('#!/bin/sh\necho "version: 1 (build 1, $LD_LIBRARY_PATH$LLAMA_ARG_MODEL)"\n')
        os.environ.update(LD_LIBRARY_PATH="/x", LLAMA_ARG_MODEL="y")
        self.addCleanup(lambda: [os.environ.pop(key) for key in ("LD_LIBRARY_PATH", "LLAMA_ARG_MODEL")])
        self.assertIn("(build 1, )", Pack.read(self.folder / "cpu").ask("--version"))


if __name__ == "__main__":
    unittest.main()
