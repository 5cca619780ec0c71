"""`python -m repoassay`: the command line, where its script is not on the path."""

from repoassay.cli.main import main

if __name__ == "__main__":
    main()
