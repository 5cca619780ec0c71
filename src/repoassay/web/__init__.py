"""The submission environment as an HTTP service: a durable queue, workers that judge, and the routes in front.

Knows the engine, its answers and their words. Must not know what a terminal shows. Needs the extra `serve`, which is
imported only by the files that answer requests and keep the queue. Read `queue.py` for what is promised, `workers.py`
for how it is kept.
"""
