/**
 * What a kernel that pushes, the host and the HCA agree on: the ring in on-chip memory and the
 * header of a message, as push_abi.h has them.
 */
@NullMarked
package dev.doorbell.core.push;

import org.jspecify.annotations.NullMarked;
