/**
 * HCAs of libibverbs. {@link dev.doorbell.verbs.Mlx5Hca} creates the queues of a real mlx5 device
 * by DEVX where a GPU can reach them; {@link dev.doorbell.verbs.VerbsHca} carries the same WQEs to
 * any provider by {@code ibv_post_send}.
 *
 * <p>Inner packages, lower ones first: {@code library} (functions of the shared libraries), {@code
 * device} (an opened device), then {@code devx} and {@code posted} (the two kinds of queues), which
 * do not depend on each other.
 *
 * <p>The bindings below {@code generated} are made by jextract and are never edited. No other
 * module imports them: outside of this module a device is an {@code Hca}.
 */
@NullMarked
package dev.doorbell.verbs;

import org.jspecify.annotations.NullMarked;
