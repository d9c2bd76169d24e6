"""Past one machine: archives in an object store, and one table of all of their events."""
