/** Histories of requests to served devices, and the orders that they must have. */
@NullMarked
package dev.doorbell.interop.shim.history;

import org.jspecify.annotations.NullMarked;
