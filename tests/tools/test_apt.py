import unittest

import support  # noqa: F401

from llamavisor_tools.apt import Package, failure, package_records
from llamavisor_tools.errors import EngineError, NoNetwork, NoSpace, NotAvailable, Untrusted

WORDS = [
    (NoNetwork, "E: Failed to fetch http://m.example/debian/dists/x/InRelease  Could not resolve 'm.example'"),
    (NoNetwork, "E: Failed to fetch http://127.0.0.1:9/x  Could not connect to 127.0.0.1:9 (127.0.0.1)."),
    (NoNetwork, "E: Failed to fetch http://m.example/x  Connection timed out [IP: 203.0.113.1 80]"),
    (NotAvailable, "E: The repository 'http://m.example/debian x Release' does not have a Release file."),
    (NotAvailable, "E: Unable to locate package llama.cpp-tools"),
    (Untrusted, "E: The repository 'http://m.example/debian x InRelease' is not signed."),
    (Untrusted, "W: GPG error: http://m.example x InRelease: The following signatures couldn't be verified "
                "because the public key is not available: NO_PUBKEY 0123\nE: The repository is not signed."),
    (Untrusted, "E: Failed to fetch http://m.example/x.deb  Hash Sum mismatch"),
    (Untrusted, "E: Release file for http://m.example/x is not valid yet (invalid for another 2d)."),
    (NoSpace, "E: You don't have enough free space in /c/archives/."),
    (NoSpace, "E: Failed to fetch http://m.example/x  Error writing to file - write (28: No space left on device)"),
    (EngineError, "E: Something that apt has never said"),
]

RECORDS = """\
Package: libgmp10
Version: 2:6.3.0+dfsg-5+b2
Installed-Size: 878
Architecture: amd64
Size: 559860
SHA256: 032743
Description: words
 Version: 9 in a continuation line

Package: debconf
Version: 1.5.92
Architecture: all
Size: 122512
SHA256: cdee72

"""


class Apt(unittest.TestCase):
    def test_each_of_apts_failures_has_its_type(self):
        for kind, text in WORDS:
            error = failure(text, "testing")
            self.assertIs(type(error), kind, text)
            self.assertNotIn("\n", str(error))

    def test_the_error_is_told_rather_than_what_came_before(self):
        text = "Err:1 http://m.example x\n  Could not resolve\nW: some\nE: Failed to fetch  it\n"
        self.assertIn("Failed to fetch it", str(failure(text, "testing")))

    def test_records_are_read(self):
        self.assertEqual(list(package_records(RECORDS)), [
            Package("libgmp10", "2:6.3.0+dfsg-5+b2", "amd64", 559860, 878 * 1024, "032743"),
            Package("debconf", "1.5.92", "all", 122512, 0, "cdee72")])

    def test_an_archive_is_named_as_apt_names_it(self):
        first = next(package_records(RECORDS))
        self.assertEqual(first.file_name, "libgmp10_2%3a6.3.0+dfsg-5+b2_amd64.deb")


if __name__ == "__main__":
    unittest.main()
