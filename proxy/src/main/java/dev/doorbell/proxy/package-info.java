/**
 * Posting by the CPU: the command queue in which kernels ask for it, the agent that serves it, the
 * ringer for queue pairs whose WQEs the GPU writes but whose doorbell it cannot reach, and the host
 * posting on its own account as the baseline of both.
 */
@NullMarked
package dev.doorbell.proxy;

import org.jspecify.annotations.NullMarked;
