/**
 * Kernels that survive their queue pair: what was posted and not acknowledged is posted again on
 * another one, and nothing is lost or applied twice ({@link
 * dev.doorbell.proxy.recovery.PostingSupervisor}). Apart from {@code proxy}, since it needs control
 * over queue pairs, which plain posting does not.
 */
@NullMarked
package dev.doorbell.proxy.recovery;

import org.jspecify.annotations.NullMarked;
