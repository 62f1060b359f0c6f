"""What can go wrong while a pack is made: one class a cause, one line of message."""

import errno


class EngineError(Exception):
    """Printed as one line; the command ends with status 1."""


class NoSpace(EngineError):
    pass


class NoNetwork(EngineError):
    pass


class Untrusted(EngineError):
    """A signature or a hash is wrong. Never worked around."""


class BadArchive(EngineError):
    """Cut short, far too large, or with a member that would be written elsewhere."""


class MissingLibrary(EngineError):
    """A build wants a library that neither it nor this system has."""


class WrongMachine(EngineError):
    pass


class MissingTool(EngineError):
    pass


class NotAvailable(EngineError):
    """The archive, or this system, has no such thing."""


class Damaged(EngineError):
    """A pack that is not what its engine.json says, or a build that does not run."""


def no_space_text(text):
    return "No space left on device" in text or "have enough free space" in text


def from_os_error(error):
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoSpace(f"no space: {where}{error.strerror}")
    return EngineError(f"{where}{error.strerror or error}")
