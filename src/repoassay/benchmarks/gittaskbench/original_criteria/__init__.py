"""What published benchmarks' own scripts decide, defects and all, so that old numbers can be compared.

One file a repository of GitTaskBench (arXiv 2508.18993, scripts as of July 2025). Each function is registered as a
metric named `gtb_...` and re-states facts about a script's behaviour; none shares code with it. `UnreadableOutput` is
the script's Process false; a value that is not a number is Process true, Result false.
"""
