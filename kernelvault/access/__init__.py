"""Who may talk to whom, and who said what: certificates, tokens, roles, the audit log.

Nothing here knows gRPC: `kernelvault.server`, `.channel` and `.interceptors` bring it to the wire. How an operator sets
it up stands in `docs/security.md`.
"""
