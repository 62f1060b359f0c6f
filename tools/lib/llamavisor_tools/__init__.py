"""What tools/get-engine is made of. Python 3.9 and newer, the standard library only."""
