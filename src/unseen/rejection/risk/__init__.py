"""What errors cost, and how their cost is estimated without unseen labels."""
