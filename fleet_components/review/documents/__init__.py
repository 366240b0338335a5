"""Plans, explanations and decisions as documents: plain data with stable keys."""
