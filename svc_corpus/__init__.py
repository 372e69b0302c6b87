"""Keeps tasks, samples, snapshots, blobs and action results on S3."""
