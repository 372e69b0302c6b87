"""The seed system's HTTP endpoints in front of the services, so that an RL loop switches by changing a URL.

A client in HTTP's clothes: it calls the services as the command does, and holds nothing but memory of prepared tasks.
"""
