"""From submissions to verdicts: criteria over metrics (deliverables), hidden tests over a patch (edits).

Knows tasks and the sandbox; not who made a submission or where it is kept. `judge.py` is the way in.
"""
