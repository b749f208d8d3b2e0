/**
 * The protocols as compiled kernels: which there are, and their PTX. A room of its own, so that
 * whoever runs kernels needs no CUDA toolkit and nobody reads PTX files by path.
 */
@NullMarked
package dev.doorbell.kernels;

import org.jspecify.annotations.NullMarked;
