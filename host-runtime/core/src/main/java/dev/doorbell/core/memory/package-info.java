/**
 * The one native address space of the emulated world: allocations by kind and place, the window
 * check that turns a wild pointer into an error, and the only class that touches raw addresses.
 */
@NullMarked
package dev.doorbell.core.memory;

import org.jspecify.annotations.NullMarked;
