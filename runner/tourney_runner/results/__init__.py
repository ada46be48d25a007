"""The one truth: records of deals, and the file that keeps them."""
