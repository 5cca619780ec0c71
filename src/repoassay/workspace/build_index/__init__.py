"""What builds are given of packages: a relay of the configured indexes, fed by a store of files by digest.

A build reaches no index itself: it asks the relay, which asks the index with the user's own credentials, keeps what
comes by its digest, and looks at the digest again whenever it is used. What a build can write, no other build sees.
"""
