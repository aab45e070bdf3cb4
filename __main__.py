"""Run the command: ``python -m protoctl``."""

from protoctl.cli import main

if __name__ == "__main__":
    main()
