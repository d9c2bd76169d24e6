"""Entries of pi's sessions, which its forks and OpenClaw write, too: records, payloads and the parser."""
