"""What people post of a matchday, and the places where they do."""
