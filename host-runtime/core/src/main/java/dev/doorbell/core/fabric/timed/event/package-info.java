/** Discrete events: the queue with its clock, and calendars of servers that are booked ahead. */
@NullMarked
package dev.doorbell.core.fabric.timed.event;

import org.jspecify.annotations.NullMarked;
