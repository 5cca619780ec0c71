"""One plug-in of every kind that RepoAssay takes."""
