"""What obstore says, and what we make of it. The texts are as obstore 0.12 writes them, shortened."""

from __future__ import annotations

import errno

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError, PreconditionError

from found_footy.errors import ObjectStoreError, ObjectStoreUnavailable
from found_footy.storage.objects.failures import S3Details, file_failure, is_missing, is_range_after_end, s3_failure

PLACE = S3Details("footy", "https://s3.example.org", ("S3cretS3cret", "AKIDEXAMPLE"))


def answered(status: int, code: str = "") -> GenericError:
    body = f'<?xml version="1.0"?>\n<Error><Code>{code}</Code><Message>Words.</Message></Error>' if code else ""
    return GenericError(
        "Generic S3 error: Error performing PUT https://s3.example.org/footy/a in 5ms - "
        f"Server returned non-2xx status code: {status} Words: {body}\n\nDebug source:\nGeneric {{ status: {status} }}"
    )


def unanswered(kind: str) -> GenericError:
    return GenericError(
        "Generic S3 error: Error performing PUT https://s3.example.org/footy/a in 208ms, after 2 retries, "
        "max_retries: 2, retry_timeout: 5s  - HTTP error: error sending request\n\nDebug source:\n"
        f"Generic {{ inner: Http( HttpError {{ kind: {kind}, source: reqwest::Error }} ) }}"
    )


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (answered(500, "InternalError"), "HTTP 500 (InternalError)"),
        (answered(503, "SlowDown"), "HTTP 503 (SlowDown)"),
        (answered(502), "HTTP 502"),
        (answered(429), "HTTP 429"),
        (answered(408, "RequestTimeout"), "HTTP 408"),
        (answered(409, "OperationAborted"), "HTTP 409"),
        (unanswered("Connect"), "cannot be reached"),
        (unanswered("Timeout"), "did not respond in time"),
        (unanswered("Request"), "error sending request"),
        (GenericError("Generic S3 error: Got invalid list response: expected value"), "invalid list response"),
        (PreconditionError("Request precondition failure for path a: 412"), "replaced meanwhile"),
    ],
)
def test_temporary_failures_are_retryable(failure: Exception, words: str) -> None:
    error = s3_failure(failure, "put a", PLACE)
    assert isinstance(error, ObjectStoreUnavailable)
    assert error.retryable
    assert words in str(error)
    assert str(error).startswith("put a: ")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (answered(403, "SignatureDoesNotMatch"), "check FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY"),
        (answered(403), "check FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY"),
        (answered(401), "check FOOTY_S3_ACCESS_KEY and FOOTY_S3_SECRET_KEY"),
        (PermissionDeniedError(str(answered(403, "AccessDenied"))), "may list, read, write and delete"),
        (answered(403, "RequestTimeTooSkewed"), "clock"),
        (answered(404, "NoSuchBucket"), "bucket footy not found; create it"),
        (answered(404), "bucket footy not found"),
        (answered(301, "PermanentRedirect"), "FOOTY_S3_REGION"),
        (answered(400, "AuthorizationHeaderMalformed"), "FOOTY_S3_REGION"),
        (answered(400, "EntityTooLarge"), "HTTP 400 (EntityTooLarge)"),
        (GenericError("Error performing PUT http://169.254.169.254/latest/api/token in 6s"), "no credentials: set"),
        (
            GenericError("GET http://169.254.169.254/latest - Server returned non-2xx status code: 404"),
            "no credentials: set",
        ),
        (GenericError("HTTP error: kind: Connect InvalidCertificate(UnknownIssuer)"), "certificate"),
        (OSError("Is a directory (os error 21)"), "Is a directory"),
        (ValueError("wrong"), "wrong"),
    ],
)
def test_a_permanent_failure_has_a_hint(failure: Exception, words: str) -> None:
    error = s3_failure(failure, "put a", PLACE)
    assert type(error) is ObjectStoreError
    assert not error.retryable
    assert words in str(error)


def test_no_message_has_a_secret_or_is_long() -> None:
    texts = [
        "Generic S3 error: AKIDEXAMPLE and S3cretS3cret were seen" + "x" * 500,
        "first line\nS3cretS3cret",
        str(answered(403, "AKIDEXAMPLE")),
        str(answered(500, "S3cretS3cret" * 6)),
    ]
    for text in texts:
        message = str(s3_failure(GenericError(text), "put a", PLACE))
        assert "S3cret" not in message
        assert "AKIDEXAMPLE" not in message
        assert len(message) < 300


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        (OSError(errno.ENOSPC, "No space"), ObjectStoreUnavailable, "No space left on device"),
        (
            GenericError("Generic LocalFileSystem error: Unable to copy: No space left on device (os error 28)"),
            ObjectStoreUnavailable,
            "No space left on device",
        ),
        (OSError(errno.EIO, ""), ObjectStoreUnavailable, "Input/output error"),
        (PermissionError(errno.EACCES, ""), ObjectStoreError, "Permission denied"),
        (OSError(errno.EROFS, ""), ObjectStoreError, "Read-only file system"),
        (GenericError("Not a directory (os error 20)"), ObjectStoreError, "Not a directory"),
        (GenericError("something new\nand long"), ObjectStoreError, "something new"),
    ],
)
def test_a_full_disk_may_pass_and_a_closed_one_stays(
    failure: Exception, kind: type[ObjectStoreError], words: str
) -> None:
    error = file_failure(failure, "put a")
    assert type(error) is kind
    assert str(error) == f"put a: {words}"


@pytest.mark.parametrize(
    ("failure", "missing"),
    [
        (FileNotFoundError("Object at location a not found"), True),
        (GenericError("Unable to open file a/b: Not a directory (os error 20)"), True),
        (GenericError("Unable to open file a/b: Permission denied (os error 13)"), False),
        (GenericError("anything"), False),
    ],
)
def test_only_absent_objects_are_missing(failure: Exception, missing: bool) -> None:
    assert is_missing(failure) is missing


@pytest.mark.parametrize(
    ("failure", "beyond"),
    [
        (answered(416, "InvalidRange"), True),
        (GenericError("Requested range was invalid source: StartTooLarge { requested: 9, length: 9 }"), True),
        (answered(400), False),
    ],
)
def test_a_range_beyond_the_end_is_known_from_either_store(failure: Exception, beyond: bool) -> None:
    assert is_range_after_end(failure) is beyond
