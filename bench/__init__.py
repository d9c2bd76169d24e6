"""`make bench`: our speeds against the limits of the machine, as ratios in one run."""
