"""What ends a run, and what refuses one case."""


class ParityError(Exception):
    """Printed as one line; the command ends with status 1."""


class Refused(Exception):
    """A case that gets no rows: `code` is invalid, too_many_options or too_long."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message
