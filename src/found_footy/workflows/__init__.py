"""What happens when. Standard library, temporalio and our domain only: workflows must replay."""
