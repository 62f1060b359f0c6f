import errno
import os
import threading
import unittest
from unittest import mock

from support import FolderTest

from llamavisor_tools import files
from llamavisor_tools.errors import NoSpace, from_os_error


class Files(FolderTest):
    def test_space_of_one_file_system_is_counted_once(self):
        status = os.statvfs(self.folder)
        free = status.f_bavail * status.f_frsize
        files.check_space([(self.folder, 1), (self.folder / "not/yet/there", 1)])
        with self.assertRaisesRegex(NoSpace, "^no space: .* are needed$"):
            files.check_space([(self.folder, free), (self.folder / "not/yet/there", free)])

    def test_a_full_disc_is_no_space_whoever_finds_it(self):
        for code in (errno.ENOSPC, errno.EDQUOT):
            self.assertIsInstance(from_os_error(OSError(code, os.strerror(code), "/x")), NoSpace)

    def test_an_interrupted_stage_leaves_nothing(self):
        target = self.folder / "deep/er/cpu"
        with self.assertRaises(KeyboardInterrupt):
            with files.parent_of(target) as parent, files.locked(parent), files.stage(target) as folder:
                (folder / "half").write_text("x")
                raise KeyboardInterrupt
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_left_overs_of_a_killed_run_are_swept_up(self):
        (self.folder / ".cpu.new-dead").mkdir()
        (self.folder / ".cpu.new-dead/part").write_text("x")
        with files.stage(self.folder / "cpu"):
            pass
        self.assertEqual(list(self.folder.iterdir()), [])

    def swap(self):
        target = self.folder / "cpu"
        with files.stage(target) as folder:
            (folder / "new").write_text("x")
            files.swap_in(folder, target)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["cpu"])
        self.assertEqual([path.name for path in target.iterdir()], ["new"])

    def test_a_new_folder_takes_its_name(self):
        self.swap()

    def test_a_new_folder_replaces_an_old_one(self):
        for can_exchange in (True, False):
            (self.folder / "cpu").mkdir(exist_ok=True)
            (self.folder / "cpu/old").write_text("x")
            (self.folder / "cpu/new").unlink(missing_ok=True)
            if can_exchange:
                self.swap()
            else:
                with mock.patch.object(files, "exchange", lambda *_: False):
                    self.swap()

    def test_a_folder_that_was_made_stays_when_something_is_in_it(self):
        with files.parent_of(self.folder / "a/b/cpu"):
            (self.folder / "a/b/cpu").mkdir()
        self.assertTrue((self.folder / "a/b/cpu").exists())

    def test_the_lock_keeps_a_second_run_out_until_the_first_ends(self):
        order, second_waits = [], threading.Event()

        def second():
            with mock.patch.object(files, "say", lambda _: second_waits.set()), files.locked(self.folder):
                order.append("second")

        with files.locked(self.folder):
            other = threading.Thread(target=second)
            other.start()
            self.assertTrue(second_waits.wait(10))
            order.append("first")
        other.join()
        self.assertEqual(order, ["first", "second"])
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
