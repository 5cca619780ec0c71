"""Kubernetes pods as boxes: one pod a session, of an image, whose first process is our server.

`cluster.py` asks the API server, `pod_manifest.py` says what a pod is, `pod_stream.py` connects to one,
`pod_process.py` carries its streams, and `pod_sandbox.py` puts a session together. Nothing of this machine is mounted:
what a session shows is sent to the pod before its server starts. What comes back is read as hostile, as from every box.
"""
