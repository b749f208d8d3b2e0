/**
 * Software HCAs for unmodified libibverbs programs: the answers of Linux's uverbs and mlx5_ib to
 * libibverbs and libmlx5. The preload library in {@code host-runtime/uverbs-shim} forwards their
 * commands over a Unix socket. Queues lie in memory that the program and this process share;
 * payload is read and written in the program's own memory.
 *
 * <p>A command passes through: {@link dev.doorbell.interop.shim.ShimConnection} (messages), {@code
 * command} (what each does), {@code object} (what exists), {@code client} (the program's memory).
 *
 * <p>One thread does everything: it steps the HCAs, polls doorbell pages, and answers commands in
 * between, so no state needs a lock.
 */
@NullMarked
package dev.doorbell.interop.shim;

import org.jspecify.annotations.NullMarked;
