"""The durable file of a run: write, publish, read, follow, verify, repair; and the run API on top."""
