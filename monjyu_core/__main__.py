"""`python -m monjyu_core` is the command `monjyu`."""

from monjyu_core.cli import main

main()
