"""The page: the runs of an archive in a browser, live, for one person on one machine.

Nothing here is imported unless `steno serve` runs: starlette and uvicorn come with the extra `stenograph[web]`.
"""
