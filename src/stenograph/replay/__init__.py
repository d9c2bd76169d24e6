"""Recorded answers of a model, served again on loopback, so that an agent or a program runs again without one."""
