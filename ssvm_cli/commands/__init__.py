"""The subcommands: NAME.py declares one, run_NAME.py does what it is for and is imported when it runs."""
