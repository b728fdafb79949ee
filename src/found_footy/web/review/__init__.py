"""Human review of clips: what the page and the API make of the rows."""
