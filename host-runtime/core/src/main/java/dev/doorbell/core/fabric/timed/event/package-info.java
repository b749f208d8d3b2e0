/**
 * Discrete events: a queue with a clock for each node, the simulation in which they take turns or
 * run beside each other, and calendars of servers that are booked ahead.
 */
@NullMarked
package dev.doorbell.core.fabric.timed.event;

import org.jspecify.annotations.NullMarked;
