"""Several devices: `on_eight_devices.py` in processes of their own, with Shardy and without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("on_eight_devices.py")


@pytest.mark.parametrize(
    ("shardy", "selected"),
    # What does not depend on the partitioner is run once.
    [("1", ""), ("0", "pure_callback or partly_manual or once or first_device")],
    ids=["Shardy", "GSPMD"],
)
def test_on_eight_devices(shardy: str, selected: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--tb=short",
            "-k",
            selected,
            PROGRAMS,
        ],
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "BUFCB_TEST_SHARDY": shardy,
        },
        cwd=PROGRAMS.parents[2],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
