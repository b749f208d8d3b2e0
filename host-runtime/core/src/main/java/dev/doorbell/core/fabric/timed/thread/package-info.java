/** Threads with clocks of their own: scheduling, polling, and what each access does. */
@NullMarked
package dev.doorbell.core.fabric.timed.thread;

import org.jspecify.annotations.NullMarked;
