/**
 * The protocols as compiled kernels: which there are, and their PTX. A room of its own, so that a
 * run of kernels needs no CUDA toolkit, and PTX files are not read by path.
 */
@NullMarked
package dev.doorbell.kernels;

import org.jspecify.annotations.NullMarked;
