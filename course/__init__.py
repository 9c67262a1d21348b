"""Release assignments, run what students hand in, and mark it.

The folder holds no question, no solution and no secret: those stand in the
folder of a course, which every command takes as an option. See README.md.
"""
