"""What scripts/check checks, a module each. A check is given a Tree and yields its complaints as text."""
