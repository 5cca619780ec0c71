"""What criteria can measure: one file a kind of output. Heavy packages are imported inside the functions.

Every function opens hostile files, and runs only inside the grading sandbox.
"""
