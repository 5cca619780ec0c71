"""RES-Q (arXiv 2406.16801): its rows, and its published figures."""
