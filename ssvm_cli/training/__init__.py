"""One run of `ssvm train`, from what it is asked for to the model it leaves."""
