"""An arrow between rooms only ever points down the list in src/CMakeLists.txt."""

import re
import unittest

from support import ROOT, files, includes, name

ROOMS = re.search(r"foreach\(room ([a-z ]+)\)", (ROOT / "src/CMakeLists.txt").read_text())[1].split()

# The one room that may know each part of Boost.
OWNERS = {"boost/beast": "http", "boost/process": "process"}
HEAVY = ("boost/asio", *OWNERS)


def room(path):
    return path.relative_to(ROOT / "src").parts[0]


class Rooms(unittest.TestCase):
    def setUp(self):
        self.sources = [path for path in files("src/*/*.cpp", "src/*/*.hpp") if room(path) in ROOMS]
        self.assertGreater(len(self.sources), 50)

    def test_every_room_is_on_the_list(self):
        found = {room(path) for path in files("src/*/*.cpp", "src/*/*.hpp")}
        self.assertEqual(found - set(ROOMS), set())

    def test_a_room_includes_only_itself_and_rooms_further_down(self):
        wrong = []
        for path in self.sources:
            for bracket, header in includes(path):
                other = header.split("/")[0]
                if bracket == '"' and other in ROOMS and ROOMS.index(other) < ROOMS.index(room(path)):
                    wrong.append(f"{name(path)} includes {header}")
        self.assertEqual(wrong, [])

    def test_only_its_own_room_knows_a_part_of_boost(self):
        wrong = []
        for path in self.sources:
            for _, header in includes(path):
                if any(header.startswith(part) and room(path) != owner for part, owner in OWNERS.items()):
                    wrong.append(f"{name(path)} includes {header}")
        self.assertEqual(wrong, [])

    def test_no_header_that_another_room_includes_brings_in_asio(self):
        """A file that does costs up to a minute to compile, and so does each that includes it."""
        headers = {str(path.relative_to(ROOT / "src")): includes(path) for path in files("src/*/*.hpp")}
        heavy, before = set(), None
        while heavy != before:
            before = set(heavy)
            heavy |= {header for header, included in headers.items()
                      if any(other.startswith(HEAVY) or other in heavy for _, other in included)}
        wrong = [f"{name(path)} includes {header}" for path in self.sources for _, header in includes(path)
                 if header in heavy and header.split("/")[0] != room(path)]
        self.assertEqual(wrong, [])
