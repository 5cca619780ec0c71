"""GitTaskBench (arXiv 2508.18993): its suite, and its published figures."""
