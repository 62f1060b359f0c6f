import contextlib
import email.message
import hashlib
import os
import signal
import socket
import ssl
import unittest
from unittest import mock
from urllib.error import HTTPError

from support import FolderTest
from web import Web, ok, page, status

from llamavisor_tools import download, files
from llamavisor_tools.errors import BadArchive, NoNetwork, NoSpace, NotAvailable, Untrusted

BODY = bytes(range(256)) * 1000


class Download(FolderTest):
    def setUp(self):
        super().setUp()
        direct = {key: text for key, text in os.environ.items() if not key.lower().endswith("_proxy")}
        patch = mock.patch.dict(os.environ, direct, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.path = self.folder / "archive"

    @contextlib.contextmanager
    def web(self, **answers):
        with Web({f"/{name}": answer for name, answer in answers.items()}) as web:
            yield web

    def fetch(self, answer, name="x"):
        with self.web(x=answer) as web:
            return download.fetch(web.url(f"/{name}"), self.path)

    def refused(self, kind, text, answer):
        with self.assertRaisesRegex(kind, text):
            self.fetch(answer)
        self.assertEqual(signal.getitimer(signal.ITIMER_REAL), (0.0, 0.0))
        self.path.unlink(missing_ok=True)

    def impatient(self):
        patch = mock.patch.object(download, "PATIENCE", 0.3)
        patch.start()
        self.addCleanup(patch.stop)

    # ---- what comes

    def test_a_file_comes_whole_with_its_hash(self):
        for answer in [ok(BODY), page("200 OK", body=BODY),
                       page("200 OK", "Transfer-Encoding: chunked", body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))]:
            self.assertEqual(self.fetch(answer), hashlib.sha256(BODY).hexdigest())
            self.assertEqual(self.path.read_bytes(), BODY)
            self.path.unlink()
        self.assertIn("fetched: 0.2 MiB of 0.2 MiB", self.err.getvalue())

    def test_a_redirect_is_followed(self):
        for code in (301, 302, 303, 307, 308):
            with self.web(a=status(f"{code} Elsewhere", "Location: /b?key=1"), b=ok(BODY)) as web:
                download.fetch(web.url("/a"), self.path)
                self.assertEqual(web.asked, ["/a", "/b?key=1"])
            self.path.unlink()

    def test_the_alarm_is_the_programs_own_again_afterwards(self):
        before = signal.getsignal(signal.SIGALRM)
        self.fetch(ok(BODY))
        self.assertEqual(signal.getsignal(signal.SIGALRM), before)
        self.assertEqual(signal.getitimer(signal.ITIMER_REAL), (0.0, 0.0))

    def test_what_is_secret_in_an_address_is_not_shown(self):
        self.assertEqual(download.shown("https://me:key@x.example:1/a.zip?token=t#f"), "https://x.example:1/a.zip")
        with self.assertRaises(NotAvailable) as error:
            download.fetch("https://me:key@x.example/a.zip?token=t", self.path)
        self.assertNotRegex(str(error.exception) + self.err.getvalue(), "key|token")

    # ---- what does not

    def test_redirects_without_end_are_an_error(self):
        self.refused(NotAvailable, "/x is sent on more than 5 times", status("302 Found", "Location: /x"))

    def test_a_redirect_to_anything_but_the_web_is_an_error(self):
        for place in ["file:///etc/passwd", "ftp://x.example/a", "http://[::1"]:
            self.refused((NotAvailable, NoNetwork), "no plain http or https|is no address|no answer in HTTP",
                         status("302 Found", f"Location: {place}"))
        self.refused(NotAvailable, "answers 302 Found and not where to", status("302 Found"))

    def test_a_redirect_from_https_to_http_is_an_error(self):
        headers = email.message.Message()
        headers["Location"] = "http://x.example/a"
        with self.assertRaisesRegex(Untrusted, "from https to http"):
            download.next_place("https://x.example/", HTTPError("https://x.example/", 302, "Found", headers, None))

    def test_a_redirect_with_an_endless_page_is_followed_all_the_same(self):
        with Web({}) as web:
            web.answers = {"/b": ok(BODY),
                           "/a": web.drip(page("302 Found", "Location: /b"), b"x" * 1000)}
            download.fetch(web.url("/a"), self.path)

    def test_a_page_that_is_not_there_is_not_available(self):
        self.refused(NotAvailable, r"^not available: http://\S+/x answers 404 Not Found$", status("404 Not Found"))

    def test_a_server_that_fails_is_no_network(self):
        self.refused(NoNetwork, "answers 503 Busy", status("503 Busy"))

    def test_a_refused_connection_is_no_network(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with self.assertRaisesRegex(NoNetwork, "^no network: 127.0.0.1 refuses the connection"):
            download.fetch(f"http://127.0.0.1:{port}/x", self.path)

    def test_an_unknown_host_is_no_network(self):
        with mock.patch("socket.getaddrinfo", side_effect=socket.gaierror(-2, "Name or service not known")):
            with self.assertRaisesRegex(NoNetwork, "no address is known of x.example"):
                download.fetch("http://x.example/a", self.path)

    def test_a_bad_certificate_is_untrusted(self):
        reason = ssl.SSLCertVerificationError(1, "bad")
        reason.verify_message = "self-signed certificate"
        self.assertIsInstance(download.failure("https://x.example/a", reason), Untrusted)
        self.assertIn("x.example cannot be trusted: self-signed", str(download.failure("https://x.example/a", reason)))

    def test_a_download_that_is_cut_off_is_named_so(self):
        self.refused(NoNetwork, f"^cut off: only {len(BODY)} of {len(BODY) + 1} bytes came$",
                     page("200 OK", f"Content-Length: {len(BODY) + 1}", body=BODY))
        self.refused(NoNetwork, "no answer in HTTP|cut off",
                     page("200 OK", "Transfer-Encoding: chunked", body=b"fffff\r\n" + BODY))
        self.refused(NoNetwork, "no answer in HTTP|cut off", b"")

    def test_what_is_no_http_is_named_so(self):
        for words in [b"SSH-2.0-x\r\n", b"\0\1\2" * 100, b"HTTP/1.1 200 OK\r\n" + b"x" * 100_000,
                      b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 1000]:
            self.refused(NoNetwork, "no answer in HTTP", words)

    def test_a_server_without_end_is_left(self):
        with Web({}) as web, mock.patch.object(download, "MOST", 1 << 20):
            web.answers = {"/x": web.drip(page("200 OK"), BODY)}
            with self.assertRaisesRegex(BadArchive, "more than 1.0 MiB"):
                download.fetch(web.url("/x"), self.path)
        self.assertLess(self.path.stat().st_size, 2 << 20)

    def test_what_is_too_long_is_not_begun(self):
        self.refused(BadArchive, "more than 8192 MiB", page("200 OK", f"Content-Length: {9 << 30}"))
        self.assertFalse(self.path.exists())

    def test_what_the_disk_has_no_room_for_is_not_begun(self):
        with mock.patch.object(files.os, "statvfs", lambda _: mock.Mock(f_bavail=1, f_frsize=4096)):
            self.refused(NoSpace, "^no space: ", ok(BODY))

    def test_silence_and_drips_are_too_slow_wherever_they_come(self):
        self.impatient()
        with Web({}) as web:
            for answer in [web.silence, web.drip(b"", b"H"), web.drip(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"[:1]),
                           web.drip(page("200 OK", "Content-Length: 1000000"), b"x"), web.drip(page("200 OK"), b"x"),
                           web.drip(page("200 OK", "Transfer-Encoding: chunked"), b"1\r\nx\r\n")]:
                web.answers = {"/x": answer}
                with self.assertRaisesRegex(NoNetwork, r"^too slow: less than 0.1 MiB of http://\S+/x came in 0.3 s$"):
                    download.fetch(web.url("/x"), self.path)
                self.path.unlink(missing_ok=True)

    def test_patience_begins_anew_with_every_64_kib(self):
        with mock.patch.object(signal, "setitimer") as wound, download.Patience() as patience:
            patience.add(download.LEAST - 1)
            self.assertEqual(wound.call_count, 1)
            patience.add(1)
            self.assertEqual(wound.call_args_list, [mock.call(signal.ITIMER_REAL, 60.0, 60.0)] * 2)

    def test_what_is_no_address_is_refused(self):
        for url in ["http://", "http:///x", "http://[::1", "ftp://x.example/y", "http://me@x.example/y"]:
            with self.assertRaises(NotAvailable, msg=url):
                download.fetch(url, self.path)
        with self.assertRaises(NoNetwork):
            download.fetch("http://127.0.0.1:port/x", self.path)


if __name__ == "__main__":
    unittest.main()
