/**
 * The objects of programs: devices, the contexts that programs open, and what exists in a context:
 * queues, regions, doorbell pages, event channels.
 */
@NullMarked
package dev.doorbell.interop.shim.object;

import org.jspecify.annotations.NullMarked;
