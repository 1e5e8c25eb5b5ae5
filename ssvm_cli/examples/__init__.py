"""Examples on their way in (reading) and out (decoding)."""
