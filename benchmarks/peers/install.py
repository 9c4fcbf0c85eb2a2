"""Install the peers beside the Python that runs this, one by one.

One that cannot be installed does not stop the others; why is kept for the results.
"""

import json
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
NOT_INSTALLED = Path(sys.prefix) / "not-installed.json"
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def pinned(lines: list[str]) -> list[str]:
    return [line for line in lines if line and not line.startswith("#")]


def reason(stderr: str) -> str:
    """Return the first line that says what went wrong."""
    errors = [line.strip() for line in stderr.splitlines() if "error" in line.lower()]
    return (errors or stderr.strip().splitlines() or ["pip has not said why"])[0]


def main() -> int:
    failed = {}
    for requirement in pinned(REQUIREMENTS.read_text().splitlines()):
        print(f"installing {requirement}", flush=True)
        done = subprocess.run(
            [*PIP, "--constraint", str(REQUIREMENTS), requirement],
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            library = requirement.partition("==")[0]
            failed[library] = f"cannot be installed here: {reason(done.stderr)}"
            print(f"  {failed[library]}")
    NOT_INSTALLED.write_text(json.dumps(failed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
