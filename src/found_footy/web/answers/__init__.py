"""What all answers share: failures, pages of a list, ETags, templates, what a reader chose."""
