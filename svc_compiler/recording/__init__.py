"""What recordings of host code in any language share: calls, their buffers, answers, state and policy."""
