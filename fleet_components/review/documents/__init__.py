"""Documents of plans, explanations and decisions: plain data with stable keys."""
