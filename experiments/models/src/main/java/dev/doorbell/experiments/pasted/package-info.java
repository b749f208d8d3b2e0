/**
 * Readers of text that people paste: dumps, packets, tables, and where each begins and ends.
 *
 * <p>{@code explain}, {@code decode} and {@code topo} share them.
 */
@NullMarked
package dev.doorbell.experiments.pasted;

import org.jspecify.annotations.NullMarked;
