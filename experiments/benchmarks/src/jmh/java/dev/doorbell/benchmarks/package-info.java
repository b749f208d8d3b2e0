/**
 * Measures the speed of Doorbell itself: wall time of the emulation, which says nothing about an
 * HCA or a GPU. Run with {@code ./doorbell bench [PATTERN]}.
 */
@NullMarked
package dev.doorbell.benchmarks;

import org.jspecify.annotations.NullMarked;
