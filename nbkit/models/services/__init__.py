"""Models behind a network: chat servers and translation services of the web."""
