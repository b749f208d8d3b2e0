/**
 * The mlx5 formats, byte by byte: work queue entries, completion queue entries, doorbell records,
 * doorbells. Nothing else in the project contains their offsets.
 */
@NullMarked
package dev.doorbell.core.mlx5;

import org.jspecify.annotations.NullMarked;
