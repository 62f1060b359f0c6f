import contextlib
import errno
import os
import pathlib
import unittest
from unittest import mock

from support import FolderTest, load_script, write_pack

from llamavisor_tools import commands
from llamavisor_tools.errors import NoNetwork

get_engine = load_script("get-engine")


class GetEngine(FolderTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(get_engine.debian, "fill", side_effect=NoNetwork("no network: test"))
        self.fill = patch.start()
        self.addCleanup(patch.stop)
        patch = mock.patch.object(get_engine.signal, "signal")  # the test runner's own stay
        patch.start()
        self.addCleanup(patch.stop)

    def run_with(self, *words):
        return get_engine.main([str(word) for word in words])

    def test_a_good_pack_is_left_alone_and_its_folder_printed(self):
        folder = write_pack(self.folder / "cpu")
        self.assertEqual(self.run_with("cpu", "--into", folder), 0)
        self.assertIn("is good", self.err.getvalue())
        self.assertEqual(self.out.getvalue(), f"{folder}\n")
        self.fill.assert_not_called()

    def test_a_moved_pack_is_mended_in_place(self):
        folder = write_pack(self.folder / "cpu", path="/elsewhere")
        self.assertEqual(self.run_with("cpu", "--into", folder), 0)
        self.assertIn("was moved: mending it", self.err.getvalue())
        self.assertEqual(get_engine.Pack.read(folder)["path"], str(folder))
        self.fill.assert_not_called()

    def test_what_does_not_fit_is_made_again(self):
        for words in [["vulkan"], ["cpu", "--force"], ["cpu", "--suite", "sid"], ["cpu", "--with-tools"]]:
            folder = write_pack(self.folder / "cpu")
            self.assertEqual(self.run_with(*words, "--into", folder), 1)
            self.fill.assert_called_once()
            self.fill.reset_mock()

    def test_a_damaged_pack_is_made_again_and_stays_if_that_fails(self):
        folder = write_pack(self.folder / "cpu")
        (folder / "llama-server").unlink()
        self.assertEqual(self.run_with("cpu", "--into", folder), 1)
        self.assertIn("llama-server is missing; making it again", self.err.getvalue())
        self.assertIn("get-engine: error: no network: test", self.err.getvalue())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["cpu"])

    def test_a_folder_with_somebodys_files_is_left_alone(self):
        (self.folder / "precious").write_text("x")
        self.assertEqual(self.run_with("cpu", "--into", self.folder), 1)
        self.assertIn("is no pack and not empty", self.err.getvalue())
        self.fill.assert_not_called()

    def test_a_new_pack_takes_its_place(self):
        target = self.folder / "new/cpu"

        def fill(folder, *_):
            write_pack(folder)
            return None, {"kind": "debian", "suite": "forky", "packages": []}

        self.fill.side_effect = fill
        self.assertEqual(self.run_with("cpu", "--into", target), 0)
        self.assertEqual(get_engine.Pack.read(target)["path"], str(target))
        self.assertEqual([path.name for path in target.parent.iterdir()], ["cpu"])
        self.assertEqual(self.run_with("--verify", target), 0)

    def test_verify_finds_damage_and_mends_nothing(self):
        folder = write_pack(self.folder / "cpu")
        (folder / "libggml-cpu-x64.so").write_bytes(b"edoc")
        os.utime(folder / "libggml-cpu-x64.so", (1, 1))  # too old for the quick look
        self.assertEqual(self.run_with("--verify", folder), 1)
        self.assertIn("libggml-cpu-x64.so has changed", self.err.getvalue())

    def test_an_untested_build_is_warned_about(self):
        for build, warned in [(11669, False), (1, True)]:
            folder = write_pack(self.folder / "cpu", build=build)
            self.assertEqual(self.run_with("cpu", "--into", folder), 0)
            self.assertEqual("is not among the tested ones" in self.err.getvalue(), warned)

    def test_usage_errors_are_status_two(self):
        for words in [[], ["cuda"], ["cpu", "--verify", "x"], ["cpu", "--from", "system", "--suite", "sid"],
                      ["cpu", "--suite", "a b"], ["cpu", "--from", "nowhere"]]:
            with self.assertRaises(SystemExit) as end:
                self.run_with(*words)
            self.assertEqual(end.exception.code, 2, words)

    def test_folders_follow_the_environment(self):
        with mock.patch.dict(os.environ, HOME="/h", XDG_DATA_HOME="/d", XDG_CACHE_HOME="/c"):
            self.assertEqual(str(get_engine.default_target("cpu")), "/d/llamavisor/engines/cpu")
            self.assertEqual(str(get_engine.cache_folder()), "/c/llamavisor")
        with mock.patch.dict(os.environ, HOME="/h", XDG_DATA_HOME="relative", XDG_CACHE_HOME="", LLAMAVISOR_CACHE=""):
            self.assertEqual(str(get_engine.default_target("cpu")), "/h/.local/share/llamavisor/engines/cpu")
            self.assertEqual(str(get_engine.cache_folder()), "/h/.cache/llamavisor")

    def test_a_missing_tool_is_named_with_its_package(self):
        with mock.patch("shutil.which", lambda tool: None if tool in ("patchelf", "dpkg-deb") else tool):
            with self.assertRaisesRegex(Exception, r"dpkg-deb, patchelf \(on Debian: apt-get install dpkg patchelf\)"):
                commands.require("apt-get", "dpkg-deb", "patchelf")

    def fill_the_disk(self):
        """From now on a text file gets its first half only."""
        def write_half(path, text):
            with open(path, "w") as file:
                file.write(text[:len(text) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        patch = mock.patch.object(pathlib.Path, "write_text", write_half)
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_full_disk_while_a_pack_is_mended_is_one_line_and_leaves_the_pack_as_it_was(self):
        folder = write_pack(self.folder / "cpu", path="/elsewhere")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.fill_the_disk()
        self.assertEqual(self.run_with("cpu", "--into", folder), 1)
        self.assertRegex(self.err.getvalue(), r"get-engine: error: no space: \S+: No space left on device\n\Z")
        self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, before)

    def test_a_full_disk_while_a_pack_is_made_is_one_line_and_leaves_nothing(self):
        def fill(folder, *_):
            write_pack(folder)
            (folder / "engine.json").unlink()
            self.fill_the_disk()
            return None, {"kind": "debian", "suite": "forky", "packages": []}

        self.fill.side_effect = fill
        self.assertEqual(self.run_with("cpu", "--into", self.folder / "new/cpu"), 1)
        self.assertRegex(self.err.getvalue(), r"(?m)^get-engine: error: no space: \S+: No space left on device\n\Z")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_interrupt_is_one_line_and_status_130(self):
        self.fill.side_effect = KeyboardInterrupt
        with contextlib.suppress(KeyboardInterrupt):
            self.assertEqual(self.run_with("cpu", "--into", self.folder / "a/cpu"), 130)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
