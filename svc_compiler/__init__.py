"""Builds candidates, records their launch plans, replays them on the CPU model and compares with the reference."""
