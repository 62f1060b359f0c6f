"""What a host includes costs it the standard library and nothing else."""

import unittest

from support import files, includes, name


class PublicHeaders(unittest.TestCase):
    def setUp(self):
        self.headers = files("include/llamavisor/*.hpp")
        self.assertGreater(len(self.headers), 5)

    def test_they_include_each_other_and_the_standard_library_only(self):
        foreign = [f"{name(path)} includes {header}" for path in self.headers
                   for bracket, header in includes(path)
                   if bracket == '"' or ("/" in header and not header.startswith("llamavisor/")) or header.endswith(".h")]
        self.assertEqual(foreign, [])

    def test_llamavisor_hpp_brings_in_all_of_them(self):
        everything = next(path for path in self.headers if path.name == "llamavisor.hpp")
        reached, waiting = set(), [everything]
        while waiting:
            path = waiting.pop()
            if path.name not in reached:
                reached.add(path.name)
                waiting += [path.parent / header.removeprefix("llamavisor/") for _, header in includes(path)
                            if header.startswith("llamavisor/")]
        self.assertEqual({path.name for path in self.headers} - reached, set())
