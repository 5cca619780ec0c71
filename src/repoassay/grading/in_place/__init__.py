"""Tests that run as a repository's maintainers run them: in place, with a set-up that no submission can change."""
