"""Metrics that GitTaskBench's tasks use beyond those of the grading room."""
