"""What people and judges say of submissions: rubrics, ratings, studies, signals, judges.

Knows nothing of web pages or run folders: it is given what is to be reviewed, and keeps what raters answer.
"""
