/**
 * The wire between HCAs of one process, its faults, and captures, for which packets become the
 * bytes of {@code core.roce}.
 */
@NullMarked
package dev.doorbell.softhca.wire;

import org.jspecify.annotations.NullMarked;
