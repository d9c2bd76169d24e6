"""What formats have in common: content, tool definitions, JSON of any shape, model APIs."""
