//! Small dense problems of soft bodies: polar decomposition, SVD, best-fit rotations.
