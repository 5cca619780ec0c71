"""Wrong and right variants of the files that a deliverable task asks for, and what its criteria make of them."""
