import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import builds
from support import FolderTest, load_script, write_kfd
from web import Web, ok

from llamavisor_tools import archive_tree, files, from_archive, libraries
from llamavisor_tools.errors import MissingLibrary
from llamavisor_tools.pack import Pack

get_engine = load_script("get-engine")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class FromArchive(FolderTest):
    @classmethod
    def setUpClass(cls):
        cls.made = Path(tempfile.mkdtemp(prefix="llamavisor-"))
        cls.addClassCleanup(shutil.rmtree, cls.made)
        cls.release = builds.build(cls.made / "release")

    def setUp(self):
        super().setUp()
        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        self.target = self.folder / "packs/new"

    def copy(self, name="copy"):
        return Path(shutil.copytree(self.release, self.folder / name, symlinks=True))

    def archive(self, folder=None, top="llama-b11669"):
        return builds.tar(folder or self.release, top, self.folder / "release")

    def get(self, archive, flavour="cpu", *words, digest=None, status=0):
        self.err.truncate(0)
        self.err.seek(0)
        self.assertEqual(get_engine.main([flavour, "--from", str(archive), "--sha256", digest or sha256(archive),
                                          "--into", str(self.target), "--root", str(self.folder), *words]),
                         status, self.err.getvalue())
        return self.err.getvalue()

    def refused(self, archive, flavour="cpu", *words, **more):
        """The error's text, in one line; nothing was left."""
        text = self.get(archive, flavour, *words, status=1, **more)
        last = text.splitlines()[-1]
        self.assertTrue(last.startswith("get-engine: error: "), text)
        self.assertFalse(self.target.parent.exists())
        return last.removeprefix("get-engine: error: ")

    def names(self):
        return sorted(path.name for path in self.target.iterdir())

    # ---- what comes of it

    def test_a_release_becomes_a_pack_that_runs_in_each_format(self):
        for archive in [builds.tar(self.release, "llama-b11669", self.folder / "a"),
                        builds.tar(self.release, "llama-b11669", self.folder / "b", ".tar.zst"),
                        builds.zipped(self.release, "build/bin", self.folder / "c"),
                        builds.tar(self.release, ".", self.folder / "d")]:
            self.get(archive, "cpu", "--force")
            self.assertEqual(self.names(), ["engine.json", "libggml-cpu-x64.so", "libllama.so.0", "llama-server"])
            answer = subprocess.run([self.target / "llama-server", "--version"], capture_output=True, check=True)
            self.assertIn(b"build 11669", answer.stdout)
            source = Pack.read(self.target)["source"]
            self.assertEqual((source["kind"], source["from"], source["sha256"]),
                             ("archive", archive.name, sha256(archive)))
            self.assertEqual(get_engine.main(["--verify", str(self.target)]), 0)

    def test_a_build_that_keeps_its_libraries_in_a_folder_beside_is_made_flat(self):
        build = self.copy("build")
        (build / "lib").mkdir()
        (build / "bin").mkdir()
        for path in list(build.iterdir()):
            if path.is_symlink() or path.is_file():
                path.rename(build / ("lib" if ".so." in path.name else "bin") / path.name)
        self.get(self.archive(build, "llama"))
        self.assertEqual(self.names(), ["engine.json", "libggml-cpu-x64.so", "libllama.so.0", "llama-server"])

    def test_a_hip_build_brings_its_rocm_along_and_its_targets_are_read(self):
        build = self.copy()
        (build / "rocblas/library").mkdir(parents=True)
        (build / "rocblas/library/Kernels_gfx1201.hsaco").write_text("x")
        builds.compile_library("int comgr;", build, "libamd_comgr.so.3.0")  # which nothing names as needed
        write_kfd(self.folder, {1: 110000})
        text = self.get(self.archive(build), "hip")
        self.assertEqual(self.names(), ["engine.json", "libamd_comgr.so.3", "libamdhip64.so.7", "libggml-cpu-x64.so",
                                        "libggml-hip.so", "libllama.so.0", "llama-server", "rocblas"])
        self.assertEqual(Pack.read(self.target)["gfx_targets"], ["gfx1201"])
        self.assertIn("warning: this build has no code for gfx1100, only for gfx1201", text)

    def test_a_build_whose_back_ends_are_linked_makes_a_pack_of_what_is_linked(self):
        build = self.copy()
        for name in ["libggml-cpu-x64.so", "libggml-hip.so"]:
            (build / name).unlink()
        options = ["-L", build, "-Wl,-rpath,$ORIGIN"]
        builds.compile_library("int cpu;", build, "libggml-cpu.so.0.0.1")
        builds.compile_library(builds.HIP, build, "libggml-hip.so.0.0.1", *options, "-lamdhip64")
        builds.compile_c(builds.SERVER, build / "llama-server", *options, "-Wl,--no-as-needed", "-lllama", "-lggml-cpu",
                         "-lggml-hip")
        self.get(self.archive(build), "hip")
        self.assertEqual(self.names(), ["engine.json", "libamdhip64.so.7", "libggml-cpu.so.0", "libggml-hip.so.0",
                                        "libllama.so.0", "llama-server"])
        self.assertEqual(Pack.read(self.target)["gfx_targets"], ["gfx1100", "gfx1201"])
        shutil.rmtree(self.target.parent)
        self.assertRegex(self.refused(self.archive(build)), "is linked with lib[a-z0-9-]+.so.[07]: no CPU pack")

    def test_a_plugin_with_a_version_keeps_the_name_that_it_is_looked_for_by(self):
        build = self.copy()
        (build / "libggml-cpu-x64.so").rename(build / "libggml-cpu-x64.so.0.0.1")
        (build / "libggml-cpu-x64.so").symlink_to("libggml-cpu-x64.so.0.0.1")
        self.get(self.archive(build))
        self.assertEqual(self.names(), ["engine.json", "libggml-cpu-x64.so", "libllama.so.0", "llama-server"])

    def test_the_tools_come_along_when_they_are_asked_for(self):
        self.get(self.archive(), "cpu", "--with-tools")
        self.assertTrue({"llama-bench", "llama-quantize"} < set(self.names()))
        self.assertNotIn("llama-cli", self.names())

    def test_the_same_hash_again_unpacks_nothing_and_another_makes_it_anew(self):
        archive = self.archive()
        self.get(archive)
        with mock.patch.object(from_archive, "unpack", side_effect=AssertionError):
            self.assertIn("is good", self.get(archive, digest="SHA256:" + sha256(archive).upper()))
            self.assertIn("is good", self.get("gone.tar.gz", digest=sha256(archive)))
        other = self.archive(top="llama-b2")
        self.assertIn("is ready", self.get(other))
        self.assertEqual(Pack.read(self.target)["source"]["sha256"], sha256(other))

    def test_an_untested_build_is_warned_about_and_not_refused(self):
        build = self.copy()
        builds.compile_library("int llama_build(void) { return 1; }", build, "libother.so.0.0.1")
        (build / "libother.so.0.0.1").replace(build / "libllama.so.0.0.11669")
        self.assertIn("warning: build 1 (cpu) is not among the tested ones", self.get(self.archive(build)))

    # ---- the hash

    def test_no_hash_is_one_line_and_status_2(self):
        with self.assertRaises(SystemExit) as end:
            get_engine.main(["cpu", "--from", str(self.archive()), "--into", str(self.target)])
        self.assertEqual(end.exception.code, 2)
        self.assertRegex(self.err.getvalue(), r"\Aget-engine: error: no hash given: --sha256 HEX [^\n]+\n\Z")

    def test_a_wrong_hash_is_an_error_before_anything_is_unpacked(self):
        archive = self.archive()
        with mock.patch.object(from_archive, "unpack", side_effect=AssertionError):
            self.assertRegex(self.refused(archive, digest="0" * 64),
                             f"^wrong hash: {archive} has SHA-256 {sha256(archive)}, not 0{{64}}; nothing of it")

    def test_a_failure_leaves_the_pack_that_was_there(self):
        self.get(self.archive())
        before = (self.target / "engine.json").read_bytes()
        self.get(self.archive(top="other"), digest="0" * 64, status=1)
        self.assertEqual((self.target / "engine.json").read_bytes(), before)
        self.assertEqual([path.name for path in self.target.parent.iterdir()], ["new"])

    # ---- from the web

    def over_web(self, archive, **more):
        """As `get`, by an address; what was asked of the server."""
        environment = {key: text for key, text in os.environ.items() if not key.lower().endswith("_proxy")}
        with Web({"/r.tar.gz": ok(archive.read_bytes())}) as web, \
                mock.patch.dict(os.environ, environment | {"LLAMAVISOR_CACHE": str(self.folder / "cache")}, clear=True):
            self.get(web.url("/r.tar.gz?token=t"), digest=more.pop("digest", sha256(archive)), **more)
            return web.asked

    def test_a_release_comes_from_an_address_and_its_archive_is_gone_afterwards(self):
        archive = self.archive()
        self.assertEqual(len(self.over_web(archive)), 1)
        self.assertRegex(Pack.read(self.target)["source"]["from"], r"^http://127.0.0.1:\d+/r.tar.gz$")
        self.assertEqual(list((self.folder / "cache/archives").iterdir()), [])
        self.assertEqual(self.over_web(archive), [])  # it is good

    def test_a_wrong_hash_from_an_address_leaves_nothing(self):
        self.over_web(self.archive(), digest="0" * 64, status=1)
        self.assertIn("error: wrong hash: http://127.0.0.1", self.err.getvalue())
        self.assertEqual(list((self.folder / "cache/archives").iterdir()), [])

    def test_what_was_fetched_is_kept_until_a_pack_comes_of_it(self):
        archive = self.archive()
        with mock.patch.object(from_archive.libraries, "refuse_missing", side_effect=MissingLibrary("test")):
            self.assertEqual(len(self.over_web(archive, status=1)), 1)
        (kept,) = (self.folder / "cache/archives").iterdir()
        self.assertEqual(self.over_web(archive), [])
        self.assertFalse(kept.exists())

    def test_what_was_kept_is_hashed_again(self):
        archive, place = self.archive(), self.folder / "cache/archives"
        place.mkdir(parents=True)
        (place / sha256(archive)).write_bytes(b"rot")
        (place / "killed.part").write_bytes(b"half")
        self.assertEqual(len(self.over_web(archive)), 1)
        self.assertEqual(list(place.iterdir()), [])

    # ---- what is no good

    def test_an_archive_without_a_server_is_named_so(self):
        build = self.copy()
        (build / "llama-server").rename(build / "llama-server.old")
        self.assertEqual(self.refused(self.archive(build)), "not available: the archive holds no llama-server")

    def test_a_build_for_another_machine_is_named_so(self):
        build = self.copy()
        server = bytearray((build / "llama-server").read_bytes())
        server[18] = 22  # s390
        (build / "llama-server").write_bytes(server)
        self.assertRegex(self.refused(self.archive(build)), "^wrong machine: .*/llama-server .* is for ELF machine 22")
        (build / "llama-server").write_bytes(b"\xcf\xfa\xed\xfe of a Mac")
        self.assertRegex(self.refused(self.archive(build)), "^wrong machine: .* is no program for Linux")
        (build / "llama-server").rename(build / "llama-server.exe")
        self.assertRegex(self.refused(self.archive(build)), "^wrong machine: .* a build for Windows")

    def test_two_servers_are_one_too_many(self):
        build = self.copy()
        for name in ["a", "b"]:
            (build / name).mkdir()
            shutil.copy(build / "llama-server", build / name)
        (build / "llama-server").unlink()
        self.assertRegex(self.refused(self.archive(build, "t")), "holds both t/a/llama-server and t/b/llama-server")

    def test_a_server_that_does_not_run_makes_no_pack(self):
        build = self.copy()
        builds.compile_c("int main(void) { return 3; }", build / "llama-server")
        self.assertRegex(self.refused(self.archive(build)), "^llama-server --version ended with status 3")

    def test_missing_libraries_are_named_and_rocm_is_expected_on_the_machine(self):
        build = builds.build(self.folder / "build", rocm=False)
        text = self.refused(self.archive(build), "hip")
        self.assertRegex(text, r"^missing library: libamdhip64.so.7: this build expects ROCm on the machine")
        place = self.folder / "opt/rocm-7.2/lib"
        place.mkdir(parents=True)
        (place / "libamdhip64.so.7").write_text("")
        with mock.patch.object(libraries, "ROCM_PLACES", str(self.folder / "opt/rocm*/lib")):
            self.assertIn(f"as root: echo {place} > /etc/ld.so.conf.d/rocm.conf && ldconfig",
                          self.refused(self.archive(build), "hip"))
        self.get(self.archive(build), "cpu")  # which needs none of it

    def test_the_mend_fits_what_is_missing(self):
        for missing, text in [(["libgomp.so.1", "libvulkan.so.1"], "on Debian, apt-get install libgomp1 libvulkan1"),
                              (["GLIBC_2.99"], r"for a newer system than this one \(GLIBC_2.99\)"),
                              (["libodd.so.1"], "install what has it")]:
            self.assertRegex(libraries.mend(missing), text)

    def test_what_no_cpu_pack_may_hold_is_refused(self):
        build = self.copy()
        text = builds.SERVER.replace("return 0;", "return hip();").replace("int llama", "int hip(void); int llama")
        options = ["-L", build, "-Wl,-rpath,$ORIGIN", "-lllama", "-l:libggml-hip.so"]
        builds.compile_c(text, build / "llama-server", *options)
        self.assertRegex(self.refused(self.archive(build)), "is linked with libamdhip64.so.7: no CPU pack")

    def test_an_archive_without_the_back_end_is_refused(self):
        self.assertEqual(self.refused(self.archive(), "vulkan"), "this llama-server has no vulkan back end")

    def test_a_truncated_archive_is_an_error_wherever_it_is_cut(self):
        for whole in [self.archive(), builds.tar(self.release, "x", self.folder / "b", ".tar.zst"),
                      builds.zipped(self.release, "x", self.folder / "c")]:
            content = whole.read_bytes()
            for size in [2, 100, len(content) // 2, len(content) - 20, len(content) - 1]:
                whole.write_bytes(content[:size])
                self.assertRegex(self.refused(whole), "^bad archive: ", f"{whole.name} cut at {size}")

    def test_what_is_no_archive_is_an_error(self):
        path = self.folder / "archive"
        for content in [b"", b"<!doctype html>\n" * 100, b"\x1f\x8b" + b"garbage" * 99, b"PK\3\4" + b"garbage" * 99,
                        b"\x28\xb5\x2f\xfd" + b"garbage" * 99]:
            path.write_bytes(content)
            self.assertRegex(self.refused(path), "^bad archive: ", content[:9])

    def test_what_is_no_file_is_an_error_and_waits_for_nobody(self):
        os.mkfifo(self.folder / "fifo")
        self.assertRegex(self.refused(self.folder / "fifo", digest="0" * 64), "is no file$")
        self.assertRegex(self.refused(self.folder, digest="0" * 64), "is no file$")
        self.assertRegex(self.refused(self.folder / "gone", digest="0" * 64), "gone: No such file or directory$")

    def test_no_space_is_an_error_that_leaves_nothing(self):
        archive = self.archive()
        status = os.statvfs(self.folder)
        full = mock.Mock(f_bavail=1, f_frsize=status.f_frsize)
        with mock.patch.object(files.os, "statvfs", lambda _: full):
            self.assertRegex(self.refused(archive), r"^no space: \S+ has 0.0 MiB free")
        open_file = os.open

        def fill_the_disk(path, flags, *more, **named):
            if flags & os.O_EXCL and str(path).endswith("libllama.so.0.0.11669"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            return open_file(path, flags, *more, **named)

        with mock.patch.object(archive_tree.os, "open", fill_the_disk):
            self.assertRegex(self.refused(archive), r"^no space: \S+libllama\S+: No space left on device$")

    def test_a_missing_zstd_is_named_with_its_package(self):
        archive = builds.tar(self.release, "x", self.folder / "b", ".tar.zst")
        found = shutil.which
        with mock.patch("shutil.which", lambda tool: None if tool == "zstd" else found(tool)):
            self.assertRegex(self.refused(archive), r"missing tool: zstd \(on Debian: apt-get install zstd\)")

    def test_usage_errors_are_status_two(self):
        for words in [["cpu", "--sha256", "0" * 64], ["cpu", "--from", "x", "--sha256", "12"],
                      ["cpu", "--from", "ftp://x/y", "--sha256", "0" * 64],
                      ["cpu", "--from", "x", "--sha256", "0" * 64, "--suite", "sid"]]:
            with self.assertRaises(SystemExit) as end:
                get_engine.main(words)
            self.assertEqual(end.exception.code, 2, words)


if __name__ == "__main__":
    unittest.main()
