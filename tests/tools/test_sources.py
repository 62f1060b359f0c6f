import unittest

from support import FolderTest

from llamavisor_tools.errors import NotAvailable
from llamavisor_tools.sources import debian_mirror, one_line_entries, stanza_entries

STANZAS = """\
# a comment
Types: deb deb-src
# another, within the stanza
URIs: http://one.example/debian
 http://two.example/debian/
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://one.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: sid
Components: main

Types: deb-src
URIs: http://source.example/debian
Suites: sid
Components: main
"""


class Sources(FolderTest):
    def configure(self, **files):
        (self.folder / "sources.list.d").mkdir(exist_ok=True)
        for name, text in files.items():
            name = name.replace("_", ".")
            place = self.folder if name == "sources.list" else self.folder / "sources.list.d"
            (place / name).write_text(text)

    def mirror(self, **environment):
        return debian_mirror(self.folder, environment)

    def test_stanzas_give_every_address_of_enabled_binary_entries(self):
        self.assertEqual(list(stanza_entries(STANZAS)), [
            "http://one.example/debian", "http://two.example/debian/", "http://one.example/debian-security"])

    def test_lines_give_addresses_with_and_without_options(self):
        text = ("# deb http://comment.example/debian sid main\n"
                "deb-src http://source.example/debian sid main\n"
                "deb [ arch=amd64 signed-by=/k.gpg ] https://a.example/debian sid main\n"
                "deb\thttp://b.example/debian sid main # why\n")
        self.assertEqual(list(one_line_entries(text)), ["https://a.example/debian", "http://b.example/debian"])

    def test_the_main_archive_is_chosen_among_others(self):
        self.configure(a_list="deb https://third.example/apt stable main\n"
                              "deb http://m.example/debian-security sid main\n", z_sources=STANZAS)
        self.assertEqual(self.mirror(), "http://one.example/debian")

    def test_sources_list_comes_first(self):
        self.configure(sources_list="deb http://old.example/debian/ sid main\n", z_sources=STANZAS)
        self.assertEqual(self.mirror(), "http://old.example/debian")

    def test_a_list_of_mirrors_counts(self):
        self.configure(cloud_sources="Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: sid\n")
        self.assertEqual(self.mirror(), "mirror+file:///etc/apt/mirrors/debian.list")

    def test_a_disc_and_files_of_other_suffixes_do_not_count(self):
        self.configure(sources_list="deb cdrom:[Disc]/debian sid main\n",
                       old_sources_bak="Types: deb\nURIs: http://bak.example/debian\n")
        with self.assertRaisesRegex(NotAvailable, "LLAMAVISOR_DEBIAN_MIRROR"):
            self.mirror()

    def test_the_variable_wins(self):
        self.configure(z_sources=STANZAS)
        self.assertEqual(self.mirror(LLAMAVISOR_DEBIAN_MIRROR="http://mine.example/debian/"),
                         "http://mine.example/debian")

    def test_a_variable_that_would_inject_options_is_refused(self):
        for text in ["http://x/debian sid main", "http://x/[trusted=yes]", "just words", "http://x/\ndeb"]:
            with self.assertRaisesRegex(NotAvailable, "is not an address"):
                self.mirror(LLAMAVISOR_DEBIAN_MIRROR=text)


if __name__ == "__main__":
    unittest.main()
