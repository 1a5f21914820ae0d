"""The files of deploy/: images, compose, Kubernetes. No image can be built where there is no Docker."""
