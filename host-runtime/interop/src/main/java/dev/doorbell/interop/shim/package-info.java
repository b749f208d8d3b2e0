/**
 * Software HCAs for programs that know nothing of Doorbell: what Linux's uverbs and mlx5_ib would
 * answer to libibverbs and libmlx5. The preload library in {@code host-runtime/uverbs-shim} brings
 * their commands here, over a Unix socket; queues lie in memory that the program and this process
 * share, payload is read and written in the program's own memory.
 *
 * <p>One thread does everything: it steps the HCAs, looks at doorbell pages, and answers commands
 * in between, so that nothing here needs a lock.
 */
@NullMarked
package dev.doorbell.interop.shim;

import org.jspecify.annotations.NullMarked;
