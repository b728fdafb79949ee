"""What was heard of a match, kept so that it can be played again: values and decisions only."""
