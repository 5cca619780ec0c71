"""The oracle outside the process: withheld tests send values, and what they should be never enters the sandbox.

A rewriter (trusted, when a task is prepared) takes the expected side out of every assertion it can; inside, an observer
sends the values of the code under test; outside, they are compared with what the reference solution yields, and where
they differ, by the test author's own expression in a confined judge. See docs/verdicts.md.
"""
