"""Where the files that are not Python lie: beside the sources in a checkout, inside `app` in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """The folder `prompts`, `migrations` or `static`.

    Raises FileNotFoundError if the installation lacks it.
    """
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (parent / name).is_dir():
            return parent / name
    raise FileNotFoundError(f"The folder {name}/ is missing from this installation; install Turnfold again.")
