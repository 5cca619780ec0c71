"""Run the command line with ``python -m pocketledger``."""

import sys

from pocketledger.cli import main

if __name__ == "__main__":
    sys.exit(main())
