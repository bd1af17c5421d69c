"""Out-of-fold scores that tell the new sample from a labelled one."""
