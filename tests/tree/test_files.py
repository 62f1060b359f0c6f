"""Promises of the tree as a whole."""

import re
import stat
import unittest

from support import ROOT, files, name


class Files(unittest.TestCase):
    def test_no_source_file_has_more_than_500_lines(self):
        sources = files("*.cpp", "*.hpp", "*.py", "*.cmake", "*CMakeLists.txt", "tools/*")
        long = [name(path) for path in sources if path.read_text().count("\n") > 500]
        self.assertEqual(long, [])

    def test_scripts_can_be_run(self):
        scripts = [path for path in files("tools/*", ".ci/*") if path.read_bytes().startswith(b"#!")]
        self.assertGreater(len(scripts), 3)
        dull = [name(path) for path in scripts if not path.stat().st_mode & stat.S_IXUSR]
        self.assertEqual(dull, [])

    def test_the_library_never_sleeps_and_never_calls_a_shell(self):
        wrong = [name(path) for path in files("src/*", "include/*")
                 if re.search(r"\b(sleep_for|sleep_until|usleep|nanosleep|std::system|popen)\s*\(", path.read_text())]
        self.assertEqual(wrong, [])

    def test_links_between_the_documents_lead_somewhere(self):
        broken = []
        for path in files("*.md"):
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
                if "://" not in target and not (path.parent / target).exists():
                    broken.append(f"{name(path)}: {target}")
        self.assertEqual(broken, [])
