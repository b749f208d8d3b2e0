/**
 * The formats of the push ring, byte by byte, as push_abi.h has them: what a GPU stores into an
 * engine's on-chip memory, and what the engine writes back. For the push engine what {@code
 * core.mlx5} is for an HCA.
 */
@NullMarked
package dev.doorbell.core.push;

import org.jspecify.annotations.NullMarked;
