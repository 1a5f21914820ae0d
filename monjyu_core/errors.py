"""The errors Monjyu raises. Each carries what went wrong and, in `hint`, what the user can do about it."""

from __future__ import annotations


class MonjyuError(Exception):
    """Base of all errors that are meant for the user.

    `exit_code` is what the command line returns: 1 input, 2 usage or configuration, 3 external service.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ConfigurationError(MonjyuError):
    """A setting, an argument or a collection name is wrong."""

    exit_code = 2


class IndexBuildError(MonjyuError):
    """An index could not be built or published (named so as not to shadow the built-in IndexError)."""


class StorageError(MonjyuError):
    """Parts, snapshots or the state store could not be read or written."""


class UnknownVersion(StorageError):
    """A snapshot is damaged, or was made by a version of Monjyu that reads and writes others."""


class QueryError(MonjyuError):
    """A question could not be answered as asked."""

    exit_code = 2


class LLMError(MonjyuError):
    """A language model failed or answered something unusable."""

    exit_code = 3


class ExternalAPIError(MonjyuError):
    """A service outside this machine could not be reached or refused."""

    exit_code = 3


class DocumentError(MonjyuError):
    """A document could not be parsed. The class name is the `error_type` of its failure row."""

    @property
    def error_type(self) -> str:
        return type(self).__name__


class PDFProcessError(DocumentError):
    """Not raised yet: what is wrong with a PDF has a name of its own, below."""


class EncryptedDocument(DocumentError):
    """The document needs a password."""


class EmptyDocument(DocumentError):
    """The file holds no bytes, no pages or no text."""


class ScannedDocument(DocumentError):
    """The text of the document is an image."""


class MalformedDocument(DocumentError):
    """The file is truncated, damaged or not what its name says."""


class UnsupportedDocument(DocumentError):
    """No parser for this type of file."""


class DocumentTooLarge(DocumentError):
    """The document passes the limit of size, pages or text."""


class DocumentTimeout(DocumentError):
    """Parsing took longer than the limit."""


class DocumentMemory(DocumentError):
    """Parsing needed more memory than the limit."""


class ParserCrash(DocumentError):
    """The parser's process ended without a result."""


class DuplicatePaperId(DocumentError):
    """Two records claim the same paper_id; the first in path order keeps it."""
