/**
 * The shared libraries: functions of libibverbs, libmlx5 and libc, and the probe that looks for
 * them. A call that fails throws what it was for, its arguments, errno, and the fix.
 */
@NullMarked
package dev.doorbell.verbs.library;

import org.jspecify.annotations.NullMarked;
