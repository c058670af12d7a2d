//! Speed of the kernels against this machine's own limits.
