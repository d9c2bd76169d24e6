"""`python -m stenograph` is `steno`."""

from stenograph.cli import main

main()
