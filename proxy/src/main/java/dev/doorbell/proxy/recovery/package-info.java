/**
 * Posting that survives its queue pair: what was posted and not acknowledged is posted again on
 * another one, and nothing is lost or applied twice. Apart from {@code proxy}, since it needs the
 * host to hold what was posted, which plain posting does not.
 */
@NullMarked
package dev.doorbell.proxy.recovery;

import org.jspecify.annotations.NullMarked;
