"""The review application: pages and an API in which people rate submissions, over the core in `repoassay.review`.

`app` puts it together; `review_state` is what every request works with; `auth` decides who may come in. Raters use
`rating_pages` and `rating_api`, leads `lead_pages` and `study_pages`; `from_runs` makes a study's items of run folders.
What is shown of hostile files goes through `markup`, `diff`, `colour`, `rows` and `outputs`.
"""
