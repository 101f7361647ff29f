"""`python -m wireloom` is `wireloom`."""

from wireloom.cli import main

if __name__ == "__main__":
    main()
