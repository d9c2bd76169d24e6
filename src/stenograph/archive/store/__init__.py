"""What an archive keeps: packs of frames, the files they came from, restoring and forgetting."""
