"""Contract suites: subclass one in your tests to prove an adapter of your own."""
