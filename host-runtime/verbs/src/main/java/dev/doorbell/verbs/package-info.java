/**
 * Real HCAs. {@link dev.doorbell.verbs.Mlx5Hca} creates the queues of an mlx5 device by DEVX where
 * a GPU can reach them.
 *
 * <p>Inner packages, lower ones first: {@code library} (functions of the shared libraries), {@code
 * device} (an opened device), {@code devx} (queues).
 *
 * <p>The bindings below {@code generated} are made by jextract and are never edited. No other
 * module imports them: outside of this module a device is an {@code Hca}.
 */
@NullMarked
package dev.doorbell.verbs;

import org.jspecify.annotations.NullMarked;
