"""Events and trees as text for people. No I/O."""
