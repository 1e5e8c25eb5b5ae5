"""Problems: structure, features, loss and objective joined, with both sides of the certificate; and decoding."""
