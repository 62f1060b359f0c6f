"""The README's programs are those that are built and run by the tests."""

import re
import unittest

from support import ROOT


class Readme(unittest.TestCase):
    def test_the_code_for_embedding_is_the_example_that_is_built(self):
        blocks = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        self.assertIn((ROOT / "examples/embed/main.cpp").read_text(), blocks)
