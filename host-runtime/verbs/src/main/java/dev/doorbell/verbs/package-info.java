/**
 * HCAs of libibverbs. {@link dev.doorbell.verbs.Mlx5Hca} makes the queues of a real mlx5 device by
 * DEVX where a GPU can reach them; {@link dev.doorbell.verbs.VerbsHca} carries the same WQEs to any
 * provider by {@code ibv_post_send}.
 *
 * <p>The bindings below {@code generated} were made by jextract and are never edited. Nobody else
 * imports them: outside of this package a device is an {@code Hca}.
 */
@NullMarked
package dev.doorbell.verbs;

import org.jspecify.annotations.NullMarked;
