"""What studies need beside the library itself: the extra `study`."""

from importlib.util import find_spec

from banditree.errors import InvalidParameterError

__all__ = ["TO_REPORT", "TO_RUN", "check_extra"]

TO_RUN = ("joblib", "psutil", "threadpoolctl", "tqdm")
TO_REPORT = ("matplotlib",)


def check_extra(*packages: str) -> None:
    """Say at once, and of all packages, that they are missing: a study may take hours.

    Examples
    --------
    >>> try:
    ...     check_extra("json", "no_such_package")
    ... except InvalidParameterError as error:
    ...     print(error)
    a study needs no_such_package: pip install 'banditree[study]'
    """
    missing = [package for package in packages if not _is_here(package)]
    if missing:
        raise InvalidParameterError(
            f"a study needs {', '.join(missing)}: pip install 'banditree[study]'"
        )


def _is_here(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:  # from a finder that refuses it
        return False
