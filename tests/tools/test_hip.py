import contextlib
import os
import unittest
from unittest import mock

from support import FolderTest, load_script, write_kfd, write_pack

from llamavisor_tools import hip
from llamavisor_tools.errors import NoNetwork
from llamavisor_tools.pack import Pack

get_engine = load_script("get-engine")


class Hip(FolderTest):
    def setUp(self):
        super().setUp()
        environment = {key: text for key, text in os.environ.items() if not key.startswith("HSA_OVERRIDE")}
        patches = contextlib.ExitStack()
        self.addCleanup(patches.close)
        self.fill = patches.enter_context(
            mock.patch.object(get_engine.debian, "fill", side_effect=NoNetwork("no network: test")))
        patches.enter_context(mock.patch.object(get_engine.signal, "signal"))  # the test runner's own stay
        patches.enter_context(mock.patch.dict(os.environ, environment, clear=True))

    def get(self, versions, *words):
        """The error's text, of the card or of the missing network behind it."""
        write_kfd(self.folder / "root", versions)
        status = get_engine.main(["hip", "--root", str(self.folder / "root"), "--into", str(self.folder / "new/hip"),
                                  *words])
        self.assertEqual(status, 1)
        self.assertFalse((self.folder / "new").exists())
        return self.err.getvalue()

    def test_a_card_that_debians_build_has_no_code_for_ends_it_before_the_download(self):
        for version, name in [(90402, "gfx942"), (110501, "gfx1151"), (120001, "gfx1201")]:
            text = self.get({0: 0, 1: version})
            self.assertRegex(text, rf"error: not available: Debian's build has no code for {name}, only for .*gfx1102; "
                                   r".*--from ARCHIVE-OR-URL --sha256 HEX.*--anyway\n\Z")
            self.fill.assert_not_called()

    def test_anyway_goes_on_with_a_warning(self):
        text = self.get({1: 120001}, "--anyway")
        self.assertIn("warning: Debian's build has no code for gfx1201\n", text)
        self.fill.assert_called_once()

    def test_a_card_that_it_has_code_for_is_no_matter_for_words(self):
        self.assertEqual(self.get({0: 0, 1: 110000, 2: 90010}), "get-engine: error: no network: test\n")
        self.fill.assert_called_once()

    def test_one_card_with_code_is_enough(self):
        text = self.get({1: 110000, 2: 100306})
        self.assertIn("warning: Debian's build has no code for gfx1036\n", text)
        self.fill.assert_called_once()

    def test_equal_cards_are_named_once(self):
        self.assertIn("no code for gfx942, only", self.get(dict.fromkeys(range(1, 9), 90402)))

    def test_the_users_override_is_what_counts(self):
        with mock.patch.dict(os.environ, HSA_OVERRIDE_GFX_VERSION="11.0.0"):
            self.get({1: 110501})
            self.fill.assert_called_once()
        self.fill.reset_mock()
        with mock.patch.dict(os.environ, HSA_OVERRIDE_GFX_VERSION_1="12.0.1"):
            self.assertIn("no code for gfx1100 as gfx1201, only", self.get({1: 110000}))
            self.fill.assert_not_called()

    def test_a_malformed_override_ends_it_before_the_download(self):
        with mock.patch.dict(os.environ, HSA_OVERRIDE_GFX_VERSION="gfx1100"):
            self.assertIn("error: HSA_OVERRIDE_GFX_VERSION=gfx1100 is no version", self.get({1: 110501}))
        self.fill.assert_not_called()

    def test_a_machine_without_such_a_card_is_told_and_served(self):
        self.assertIn("the kernel lists no AMD GPU here", self.get({0: 0}))
        self.fill.assert_called_once()

    def test_a_pack_of_another_build_is_compared_with_the_cards_by_its_own_list(self):
        root = self.folder / "root"
        write_kfd(root, {1: 120001})
        for targets, warned in [(["gfx1100"], True), (["gfx1200", "gfx1201"], False), ([], False)]:
            self.err.truncate(0)
            pack = Pack.read(write_pack(self.folder / "hip", "hip", gfx_targets=targets))
            hip.warn_if_no_code(pack, root)
            self.assertEqual("warning: this build has no code for gfx1201" in self.err.getvalue(), warned)


if __name__ == "__main__":
    unittest.main()
