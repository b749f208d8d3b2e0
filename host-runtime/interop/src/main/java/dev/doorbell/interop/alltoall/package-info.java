/** An all-to-all that checks every byte, among processes or in virtual time. */
@NullMarked
package dev.doorbell.interop.alltoall;

import org.jspecify.annotations.NullMarked;
