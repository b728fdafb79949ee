"""From a certain goal to the posts that are worth a look."""
