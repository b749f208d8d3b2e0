/**
 * PCIe links: TLPs booked on each direction with its credits and counters, and routes over them.
 */
@NullMarked
package dev.doorbell.core.fabric.timed.link;

import org.jspecify.annotations.NullMarked;
