"""The audit of code that already uses buffer callbacks: `bufcb-lint`."""
