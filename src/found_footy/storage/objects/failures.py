"""Translation of obstore and file system failures into our errors, based on the failure text.

obstore has few exception classes; the HTTP status, the S3 error code and the errno are only in the text. The text is
long and quotes whole responses, so our messages contain little of it.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass

from obstore.exceptions import BaseError, PreconditionError

from found_footy.errors import ObjectStoreError, ObjectStoreUnavailable

ObstoreFailure = (BaseError, OSError, ValueError)
"""Exceptions that obstore calls can raise."""

_TEMPORARY = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EAGAIN, errno.EBUSY}
_TEMPORARY |= {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR}
"""Error numbers that may be temporary, such as a full disk."""

_OTHER_REGION = {
    "AuthorizationHeaderMalformed",
    "PermanentRedirect",
    "TemporaryRedirect",
    "IllegalLocationConstraintException",
}
_METADATA_SERVICE = "169.254.169.254"
"""Address of the AWS instance metadata service, which provides credentials on EC2 and is unreachable elsewhere."""


@dataclass(frozen=True, slots=True)
class S3Details:
    """Details of a bucket for error messages."""

    bucket: str
    server: str
    """Endpoint URL, or Amazon S3 with its region."""
    secrets: tuple[str, ...] = ()
    """Values to remove from messages."""


def is_missing(failure: Exception) -> bool:
    """Whether the file does not exist, including a path that leads through a file."""
    return isinstance(failure, FileNotFoundError) or system_error(failure) in (errno.ENOENT, errno.ENOTDIR)


def is_range_after_end(failure: Exception) -> bool:
    """Whether the requested range starts after the last byte of the object."""
    return s3_status(failure) == 416 or "StartTooLarge" in str(failure)


def is_bucket_missing(failure: Exception) -> bool:
    return s3_code(failure) == "NoSuchBucket"


def is_key_missing(failure: Exception) -> bool:
    return s3_code(failure) == "NoSuchKey"


def s3_status(failure: Exception) -> int | None:
    found = re.search(r"non-2xx status code: (\d{3})", str(failure))
    return int(found[1]) if found else None


def s3_code(failure: Exception) -> str | None:
    found = re.search(r"<Code>(\w{1,60})</Code>", str(failure))
    return found[1] if found else None


def system_error(failure: Exception) -> int | None:
    if isinstance(failure, OSError) and failure.errno is not None:
        return failure.errno
    found = re.search(r"\(os error (\d{1,4})\)", str(failure))
    return int(found[1]) if found else None


def s3_failure(failure: Exception, operation: str, place: S3Details) -> ObjectStoreError:
    """Translate an S3 failure. `operation` is the attempted operation, such as `put a/b.mp4`."""
    if _METADATA_SERVICE in str(failure):
        return ObjectStoreError(f"{operation}: no credentials: set FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY")
    status, code = s3_status(failure), s3_code(failure)
    what = f"{place.server} returned HTTP {status}" + (f" ({_short(code, place.secrets)})" if code else "")
    if isinstance(failure, PreconditionError):
        return ObjectStoreUnavailable(f"{operation}: the object was replaced meanwhile")
    if status is None:
        return _connection_failure(failure, operation, place)
    if code == "RequestTimeTooSkewed":
        return ObjectStoreError(f"{operation}: {what}: set this machine's clock")
    if code in _OTHER_REGION or 300 <= status < 400:
        return ObjectStoreError(f"{operation}: {what}: set FOOTY_S3_REGION to the region of the bucket {place.bucket}")
    if status in (401, 403):
        return ObjectStoreError(
            f"{operation}: {what}: check FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY, and that they may list, "
            f"read, write and delete in the bucket {place.bucket}"
        )
    if status in (408, 409, 425, 429) or status >= 500:
        return ObjectStoreUnavailable(f"{operation}: {what}")
    if status == 404:
        return ObjectStoreError(
            f"{operation}: {what}: bucket {place.bucket} not found; create it, or correct FOOTY_OBJECT_STORE_URL and "
            "FOOTY_S3_ENDPOINT"
        )
    return ObjectStoreError(f"{operation}: {what}")


def _connection_failure(failure: Exception, operation: str, place: S3Details) -> ObjectStoreError:
    text = str(failure)
    if re.search(r"invalid peer certificate|InvalidCertificate|UnknownIssuer", text):
        return ObjectStoreError(f"{operation}: {place.server} has an untrusted certificate")
    if not isinstance(failure, BaseError):
        return ObjectStoreError(f"{operation}: {_short(text, place.secrets)}")
    if re.search(r"kind: Timeout|TimedOut|timed out|deadline has elapsed", text):
        return ObjectStoreUnavailable(f"{operation}: {place.server} did not respond in time")
    if re.search(r"kind: Connect\b", text):
        return ObjectStoreUnavailable(f"{operation}: {place.server} cannot be reached")
    return ObjectStoreUnavailable(f"{operation}: {_short(text, place.secrets)}")


def file_failure(failure: Exception, operation: str) -> ObjectStoreError:
    """Translate a failure of a local file or folder."""
    number = system_error(failure)
    kind = ObjectStoreUnavailable if number in _TEMPORARY else ObjectStoreError
    return kind(f"{operation}: {_short(str(failure), ()) if number is None else os.strerror(number)}")


def _short(text: str, secrets: tuple[str, ...]) -> str:
    line = text.split("\n", 1)[0]
    for secret in secrets:
        line = line.replace(secret, "***")
    return line[:200]
