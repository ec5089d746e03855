"""Tests of the page, in a browser: a package, so that its fixtures end with its last test."""
