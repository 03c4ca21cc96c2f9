#!/usr/bin/env python
import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
    try:
        execute_from_command_line(sys.argv)
    except Exception as error:  # of Django's own commands; ours have said it already
        from evalplatform.errors import in_one_line

        if "--traceback" in sys.argv or (line := in_one_line(error)) is None:
            raise
        sys.exit(f"evalplatform: {line}")


if __name__ == "__main__":
    main()
