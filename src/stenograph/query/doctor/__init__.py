"""What is well and what is not: agents' files, the archive, journals. Facts only; nothing is changed."""
