"""Where the command begins: `repoassay`, and `python -m repoassay` where its script is not on the path."""

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback while it is still being imported, too."""
    try:
        from repoassay.cli.main import main as command

        command()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
