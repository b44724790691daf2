"""Families: architectures whose one class of settings builds a network for every kind of problem.

Every file is one family, registered as `family/<name>`, so that the names of the papers' models keep their meaning.
"""
