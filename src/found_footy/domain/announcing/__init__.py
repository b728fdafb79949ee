"""What is told to others: news with their places, and who wants to hear of which."""
