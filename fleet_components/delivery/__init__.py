"""How decided objects reach their clusters."""
