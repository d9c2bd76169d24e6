"""Commands that `steno run` starts: what they print, and which agent's session is theirs."""
