/**
 * Problems that a user can fix: a problem with a stable code, where it is, its effect and the fix,
 * and the exceptions that carry problems to the command line. Every reader of a file and every
 * command reports in these terms, whichever module it is in.
 */
@NullMarked
package dev.doorbell.core.problem;

import org.jspecify.annotations.NullMarked;
