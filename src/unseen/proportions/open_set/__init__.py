"""The default: is anything unseen, and how much?"""
