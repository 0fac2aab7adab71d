"""Runs programs one after another in this process: `python harness.py FOLDER… > printed.json`.

Each FOLDER holds a `program.py` with a `main()`. The JSON object that is printed maps each folder to what its
`main()` printed, or to the traceback of what it raised. A process of its own for each program would do little
but import JAX.
"""

import contextlib
import importlib.util
import io
import json
import sys
import traceback
from pathlib import Path


def printed_by(folder: Path) -> str:
    """What the program prints; the modules beside it are importable while it runs, and forgotten after."""
    folder = folder.resolve()
    known = set(sys.modules)
    path = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("program", folder / "program.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["program"] = module
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            spec.loader.exec_module(module)
            module.main()
        return printed.getvalue()
    except Exception:  # noqa: BLE001 - the next program has its turn, and the traceback tells the test
        return traceback.format_exc()
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - known:
            if any(place.is_relative_to(folder) for place in places(sys.modules[name])):
                del sys.modules[name]


def places(module) -> list[Path]:
    """The file of a module; the folders of a package without one."""
    file = getattr(module, "__file__", None)
    return [Path(path) for path in ([file] if file else getattr(module, "__path__", ()))]


def main() -> None:
    printed = {}
    for folder in sys.argv[1:]:
        print(folder, file=sys.stderr, flush=True)  # names the program that hangs or crashes
        printed[folder] = printed_by(Path(folder))
    json.dump(printed, sys.stdout)


if __name__ == "__main__":
    main()
