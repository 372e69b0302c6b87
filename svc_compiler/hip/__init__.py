"""HIP: tool chain, CPU image, recorder."""
