"""What every kernelvault service shares: the contract's stubs, configuration, server, client, errors, sandbox and replay."""

__version__ = "0.1.0"
