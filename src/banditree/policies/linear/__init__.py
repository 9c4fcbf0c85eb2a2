"""What the policies with linear models share."""
