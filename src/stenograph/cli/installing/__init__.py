"""How agents are made to call us: in their settings, or by a file of ours that they load."""
