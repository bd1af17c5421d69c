"""Out-of-fold scores that tell the unlabelled sample from a labelled one."""
