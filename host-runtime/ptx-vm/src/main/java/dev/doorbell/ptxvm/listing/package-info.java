/**
 * Contents of a module, without running it: its basic blocks, the register slots that instructions
 * use, and the loops that poll.
 */
@NullMarked
package dev.doorbell.ptxvm.listing;

import org.jspecify.annotations.NullMarked;
