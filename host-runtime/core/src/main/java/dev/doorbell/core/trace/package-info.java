/**
 * Events with time and place: the stream of events that timelines, counters and the demo are made
 * from.
 */
@NullMarked
package dev.doorbell.core.trace;

import org.jspecify.annotations.NullMarked;
