"""How agents are made to call us: by their settings, or by a file of ours that they load."""
