"""`python -m banditree`."""

import sys

from banditree.cli import main

sys.exit(main())
