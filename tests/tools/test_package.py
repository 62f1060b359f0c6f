import hashlib
import json
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import builds
from support import FolderTest, load_script

from llamavisor_tools import commands, elf, package
from llamavisor_tools.pack import Pack

get_engine = load_script("get-engine")
package_engine = load_script("package-engine")
package_engine.progress.program = "get-engine"  # which other tests read


class Package(FolderTest):
    @classmethod
    def setUpClass(cls):
        cls.made = Path(tempfile.mkdtemp(prefix="llamavisor-"))
        cls.addClassCleanup(shutil.rmtree, cls.made)
        cls.release = builds.build(cls.made / "release")
        (cls.release / "rocblas/6.4/library").mkdir(parents=True)
        (cls.release / "rocblas/6.4/library/Kernels_gfx1201.hsaco").write_text("kernel")
        (cls.release / "rocblas/library").symlink_to("6.4/library")
        cls.archive = builds.tar(cls.release, "llama-b11669", cls.made / "release")

    def setUp(self):
        super().setUp()
        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        environment = {key: text for key, text in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.platform = f"linux-{os.uname().machine}"

    def get(self, archive, into, flavour="hip", status=0):
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        self.assertEqual(get_engine.main([flavour, "--from", str(archive), "--sha256", digest, "--into", str(into),
                                          "--root", str(self.folder)]), status, self.err.getvalue())
        return into

    def package(self, pack, into="out", flavour="hip", status=0):
        """The archive's path; its hash was printed, and nothing else."""
        self.out.truncate(0)
        self.out.seek(0)
        self.assertEqual(package_engine.main([flavour, "--pack", str(pack), "--into", str(self.folder / into)]), status,
                         self.err.getvalue())
        if status:
            self.assertEqual(self.out.getvalue(), "")
            return None
        (path,) = (self.folder / into).iterdir()
        self.assertEqual(self.out.getvalue(), hashlib.sha256(path.read_bytes()).hexdigest() + "\n")
        return path

    def members(self, path):
        plain = self.folder / "plain.tar"
        subprocess.run(["zstd", "-q", "-f", "-d", path, "-o", plain], check=True)
        with tarfile.open(plain) as file:
            return file.getmembers()

    def test_it_has_the_platform_and_the_flavour_in_its_name(self):
        path = self.package(self.get(self.archive, self.folder / "hip"))
        self.assertEqual(path.name, f"llamavisor-{self.platform}-hip.tar.zst")
        self.assertEqual(path.stat().st_mode & 0o777, 0o644)

    def test_get_engine_takes_it_and_the_pack_runs_elsewhere(self):
        first = self.get(self.archive, self.folder / "first")
        path = self.package(first)
        second = self.get(path, self.folder / "elsewhere/second")
        shutil.rmtree(first)
        pack = Pack.read(second)
        self.assertEqual(pack["gfx_targets"], ["gfx1201"])
        self.assertEqual(pack["source"]["pack"]["from"], "release.tar.gz")
        self.assertEqual(os.readlink(second / "rocblas/library"), "6.4/library")
        self.assertEqual(pack["path"], str(second))
        answer = subprocess.run([second / "llama-server", "--version"], capture_output=True, check=True)
        self.assertIn(b"build 11669", answer.stdout)
        self.assertEqual(get_engine.main(["--verify", str(second)]), 0)

    def test_the_same_pack_gives_the_same_bytes(self):
        pack = self.get(self.archive, self.folder / "hip")
        first = self.package(pack, "a").read_bytes()
        copy = Path(shutil.copytree(pack, self.folder / "copy", symlinks=True))
        os.utime(copy / "llama-server")  # as a mended program has it
        os.utime(copy / "engine.json")
        self.assertEqual(self.package(copy, "b").read_bytes(), first)

    def test_members_are_sorted_and_nobodys_and_of_one_time(self):
        pack = self.get(self.archive, self.folder / "hip")
        for text in ["", "1700000000"]:
            with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH=text):
                members = self.members(self.package(pack, f"out{text}"))
            names = [member.name for member in members]
            top = f"llamavisor-{self.platform}-hip"
            self.assertEqual(names[0], f"{top}/engine.json")
            self.assertEqual(names[1:], sorted(names[1:]))
            self.assertIn(f"{top}/rocblas/library", names)
            newest = max(int(path.stat().st_mtime) for path in pack.glob("*.so*"))
            kernels = int((pack / "rocblas/6.4/library/Kernels_gfx1201.hsaco").stat().st_mtime)
            for member in members:
                self.assertEqual((member.uid, member.gid, member.uname, member.gname), (0, 0, "", ""))
                self.assertEqual(member.mtime, int(text or max(newest, kernels)))
                if member.isfile():
                    runs = os.path.basename(member.name) == "llama-server"
                    self.assertEqual(member.mode, 0o755 if runs else 0o644)

    def test_it_does_not_tell_where_the_pack_was(self):
        pack = self.get(self.archive, self.folder / "secret/hip")
        description = json.loads((pack / "engine.json").read_text())
        description["source"]["path"] = str(self.folder / "secret/llama-server")
        (pack / "engine.json").write_text(json.dumps(description))
        with open(self.package(pack), "rb") as file:
            content = subprocess.run(["zstd", "-d", "-c"], stdin=file, stdout=subprocess.PIPE, check=True).stdout
        self.assertNotIn(b"secret", content)

    def test_a_loaders_place_is_taken_out_of_programs(self):
        pack = self.get(self.archive, self.folder / "hip")
        loader = os.path.basename(elf.interpreter(pack / "llama-server"))
        elf.set_interpreter(pack / "llama-server", pack / loader)
        content = package.without_place(Pack(pack, {"loader": loader}), "llama-server")
        self.assertNotIn(os.fsencode(pack), content)
        self.assertEqual(len(content), (pack / "llama-server").stat().st_size)
        (self.folder / "neutral").write_bytes(content)
        self.assertEqual(elf.interpreter(self.folder / "neutral"), f"/{loader}")

    def test_a_damaged_pack_and_one_of_another_flavour_are_refused(self):
        pack = self.get(self.archive, self.folder / "hip")
        self.package(pack, flavour="vulkan", status=1)
        self.assertIn("is a hip pack, not vulkan", self.err.getvalue())
        (pack / "libggml-hip.so").write_bytes(b"other")
        os.utime(pack / "libggml-hip.so", (1, 1))
        self.package(pack, status=1)
        self.assertIn("libggml-hip.so has changed", self.err.getvalue())
        self.package(self.folder, status=1)
        self.assertIn("is no pack", self.err.getvalue())
        self.assertFalse((self.folder / "out").exists())

    def test_a_link_that_leads_out_of_the_pack_is_refused_and_leaves_nothing(self):
        pack = self.get(self.archive, self.folder / "hip")
        for place in ["/usr/share", "../.."]:
            (pack / "rocblas/library").unlink()
            (pack / "rocblas/library").symlink_to(place)
            self.package(pack, status=1)
            self.assertIn("rocblas/library leads out of it", self.err.getvalue())
            self.assertEqual(list((self.folder / "out").iterdir()), [])

    def test_an_older_archive_of_the_name_is_replaced_whole(self):
        pack = self.get(self.archive, self.folder / "hip")
        path = self.folder / f"out/llamavisor-{self.platform}-hip.tar.zst"
        path.parent.mkdir()
        path.write_bytes(b"old")
        with mock.patch.object(commands, "end", side_effect=KeyboardInterrupt):
            self.assertEqual(package_engine.main(["hip", "--pack", str(pack), "--into", str(path.parent)]), 130)
        self.assertEqual(path.read_bytes(), b"old")
        self.assertNotEqual(self.package(pack).read_bytes(), b"old")

    def test_a_full_disk_is_one_line_and_leaves_nothing(self):
        pack = self.get(self.archive, self.folder / "hip")
        place = self.folder / "bin"
        place.mkdir()
        (place / "zstd").write_text("#!/bin/sh\necho 'zstd: error 70 : No space left on device' >&2\nexit 70\n")
        (place / "zstd").chmod(0o755)
        with mock.patch.dict(os.environ, PATH=f"{place}:{os.environ['PATH']}"):
            self.package(pack, status=1)
        self.assertRegex(self.err.getvalue(), "error: zstd failed: .*No space left on device\n\\Z")
        self.assertEqual(list((self.folder / "out").iterdir()), [])

    def test_an_epoch_that_is_no_number_is_refused(self):
        pack = self.get(self.archive, self.folder / "hip")
        for text in ["tomorrow", "-1", "1e9", "9" * 20]:
            with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH=text):
                self.package(pack, status=1)
            self.assertIn(f"SOURCE_DATE_EPOCH={text} is no number of seconds", self.err.getvalue())

    # ---- archives that claim to be one

    def forged(self, **changes):
        """A packaged pack with another engine.json."""
        folder = self.get(self.archive, self.folder / "forged")
        description = json.loads((folder / "engine.json").read_text())
        description.update(changes)
        (folder / "engine.json").write_text(json.dumps(description))
        return builds.tar(folder, "x", self.folder / "forged")

    def test_an_archive_whose_files_are_not_those_of_its_description_is_refused(self):
        archive = self.forged()
        files = Pack.read(self.folder / "forged")["files"]
        for changed, text in [(files | {"libllama.so.0": "0" * 64}, "libllama.so.0 has changed"),
                              (files | {"../../etc/passwd": "0" * 64}, "etc/passwd is missing"),
                              ({"llama-server": files["llama-server"]}, "does not belong there")]:
            archive = self.forged(files=changed)
            self.get(archive, self.folder / "new", status=1)
            self.assertIn(text, self.err.getvalue())
            self.assertFalse((self.folder / "new").exists())
            shutil.rmtree(self.folder / "forged")

    def test_an_archive_whose_description_names_other_programs_is_refused(self):
        for changes in [{"executable": "../x"}, {"loader": "../x"}, {"loader": "gone"}, {"loader": 7}, {"format": 99},
                        {"files": []}, {"source": None}]:
            self.get(self.forged(**changes), self.folder / "new", status=1)
            self.assertIn("bad archive: its engine.json ", self.err.getvalue().splitlines()[-1], changes)
            shutil.rmtree(self.folder / "forged")

    def test_a_pack_of_another_flavour_is_refused(self):
        self.get(self.package(self.get(self.archive, self.folder / "hip")), self.folder / "new", "cpu", status=1)
        self.assertIn("the archive is a hip pack, not cpu", self.err.getvalue())


if __name__ == "__main__":
    unittest.main()
