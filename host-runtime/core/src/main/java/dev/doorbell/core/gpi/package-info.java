/**
 * The format of commands that a GPU stores into the memory of a NIC, as NCCL's GPU-Push Interface
 * has them. Everything is little-endian.
 */
@NullMarked
package dev.doorbell.core.gpi;

import org.jspecify.annotations.NullMarked;
