"""Pages, REST and live updates. They read what others write, through what they are given."""
