"""Why an attempt failed, and whether it cheated: rules over trajectory and verdict.

Knows nothing of run folders, agents' own formats or reports: it is given a trajectory, a verdict and a task.
"""
