"""One file from a web address, by the standard library: bounded in size and in patience, proxies as the environment
has them. Whoever calls compares the hash, so nothing here has to be believed."""

import hashlib
import http.client
import re
import signal
import socket
import ssl
import urllib.error
import urllib.request
from urllib.parse import urljoin, urlsplit, urlunsplit

from .errors import BadArchive, NoNetwork, NotAvailable, Untrusted
from .files import check_space
from .progress import Progress, mib, say

MOST = 8 << 30  # bytes; the largest engine known, with all of ROCm in it, is well below
REDIRECTS = 5  # release pages send on once
PATIENCE, LEAST = 60.0, 64 << 10  # so many seconds for so many bytes, whatever the connection is waiting for


class Patience:
    """An alarm that rings unless enough has come; it reaches into names, handshakes and headers too."""

    class Lost(Exception):
        pass

    def __enter__(self):
        self.come, self.before = 0, signal.signal(signal.SIGALRM, self.lose)
        self.wind_up()
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def wind_up(self):  # again and again, since an exception in a destructor is lost
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, PATIENCE)

    def lose(self, *_):
        raise self.Lost

    def add(self, count):
        self.come += count
        if self.come >= LEAST:
            self.come = 0
            self.wind_up()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """urllib's own way reads the whole of an answer that sends on, however long that is."""

    def http_error_302(self, *_):
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def is_address(word):
    return re.match(r"https?://", word, re.IGNORECASE) is not None


def shown(url):
    """Without what may be secret: a user's name and key, a query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def fetch(url, path):
    """Fills the new file `path`; the SHA-256 of what has come."""
    check_address(url)
    say(f"fetching {shown(url)}")
    try:
        with Patience() as patience, answer(url) as response:
            return save(response, path, patience)
    except Patience.Lost:
        raise NoNetwork(f"too slow: less than {mib(LEAST)} of {shown(url)} came in {PATIENCE:g} s") from None
    except urllib.error.URLError as error:
        raise failure(url, error.reason) from None
    except (http.client.HTTPException, ValueError) as error:
        raise NoNetwork(f"no answer in HTTP from {shown(url)}: {type(error).__name__}") from None
    except (ConnectionError, TimeoutError, ssl.SSLError) as error:
        raise failure(url, error) from None


def answer(url):
    """The open response of the place that `url` leads to in the end."""
    opener = urllib.request.build_opener(NoRedirects)
    place = url
    for _ in range(REDIRECTS + 1):
        check_address(place)
        request = urllib.request.Request(place, headers={"User-Agent": "llamavisor", "Accept": "*/*"})
        try:
            return opener.open(request, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            error.close()
            place = urljoin(place, next_place(place, error))
    raise NotAvailable(f"not available: {shown(url)} is sent on more than {REDIRECTS} times")


def check_address(url):
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and parts.hostname and parts.username is None
    except ValueError:
        raise NotAvailable(f"not available: {url!r} is no address") from None
    if not plain:
        raise NotAvailable(f"not available: {shown(url)} is no plain http or https address")


def next_place(url, error):
    """Where a redirect leads; a typed error for any other status."""
    status = f"{error.code} {error.reason}".strip()
    if error.code in (301, 302, 303, 307, 308):
        place = error.headers.get("Location", "")
        if not place:
            raise NotAvailable(f"not available: {shown(url)} answers {status} and not where to")
        if urlsplit(url).scheme == "https" and urlsplit(urljoin(url, place)).scheme == "http":
            raise Untrusted(f"{shown(url)} is sent on from https to http")
        return place
    if error.code >= 500:
        raise NoNetwork(f"the server fails: {shown(url)} answers {status}")
    raise NotAvailable(f"not available: {shown(url)} answers {status}")


def save(response, path, patience):
    length = response.headers.get("Content-Length", "")
    total = int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None
    refuse_too_long(total or 0)
    check_space([(path.parent, total or 0)])
    digest, done = hashlib.sha256(), 0
    with open(path, "xb") as file, Progress("fetched", total) as progress:
        while block := response.read1(1 << 16):
            done += len(block)
            refuse_too_long(done)
            file.write(block)
            digest.update(block)
            patience.add(len(block))
            progress.at(done)
        if total is not None and done < total:
            raise NoNetwork(f"cut off: only {done} of {total} bytes came")
    return digest.hexdigest()


def refuse_too_long(size):
    if size > MOST:
        raise BadArchive(f"bad archive: more than {mib(MOST)}, which no engine has")


def failure(url, reason):
    host = urlsplit(url).hostname
    if isinstance(reason, ssl.SSLError):
        return Untrusted(f"{host} cannot be trusted: {getattr(reason, 'verify_message', '') or reason.reason}")
    if isinstance(reason, ConnectionRefusedError):
        return NoNetwork(f"no network: {host} refuses the connection ({shown(url)})")
    if isinstance(reason, socket.gaierror):
        return NoNetwork(f"no network: no address is known of {host}")
    if isinstance(reason, ConnectionError):
        return NoNetwork(f"cut off: {host} ended the connection ({shown(url)})")
    return NoNetwork(f"no network: {shown(url)}: {reason}")
