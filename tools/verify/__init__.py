"""Checks of exports by other people's programs, a file per program or format; see tools/verify_exports.py."""
