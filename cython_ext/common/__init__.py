"""What every part of the core may use: errors, aligned arrays, threads, random numbers."""
