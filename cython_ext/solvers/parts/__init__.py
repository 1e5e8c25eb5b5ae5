"""What several solvers are made of: steps, averages, radii."""
