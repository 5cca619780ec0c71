"""Judges: models that rate as one more rater, outside the majority of people, and how far they may be believed.

What a judge is: `families`, `definition`. What it is told: `diff_lines`, `prompt`, `second_pass`, `injection`. What it
says: `answer`, `judgement`. How it is asked, through the gateway: `asking`, `door`, `sample`, `judging`. What is kept:
`kept`. What follows: `votes`, and held against people `split`, `confidence`, `axis_figures`, `mergeable_rate`,
`asides`, `substitute`, `calibration`.
"""
