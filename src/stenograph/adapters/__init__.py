"""Live agents: adapters that drive or listen to them, each with at most one optional dependency."""
