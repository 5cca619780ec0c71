"""Mutants of the solutions of tasks that change a repository, and trials of a task's hidden tests by them."""
