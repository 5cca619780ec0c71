"""What people and judges say of submissions: rubrics, ratings, studies, signals, judges.

Knows nothing of web pages or run folders: it is given what is to be reviewed, and keeps what raters answer.

What is asked: `rubric`, `answers`. What raters see, and when: `study`, `scrub`, `assignment`. What is kept (these
import SQLAlchemy, the others do not): `database`, `tables`, `studies`, `raters`, `leases`, `drafts`, `submitting`,
`comments`, `settle`; `migrations` holds files of SQL. What follows: `adjudicate`, `reviewed`, and of its rows `gap`,
`failures`, `minutes`, `golden`, `conduct`, `reliability`. Which runs are reviewed: `sampling`. In and out: `exchange`,
`simple_table`.
"""
