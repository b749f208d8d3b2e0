/**
 * From a run to figures, as pure functions of the raw samples: the same run gives the same bytes
 * whenever they are rebuilt. Every figure carries the basis word of its numbers.
 *
 * <p>In order: {@code Figures} reads a run and makes figures of {@code chart}, these are laid out
 * with {@code layout}, and {@code drawing} writes them.
 */
@NullMarked
package dev.doorbell.experiments.results.figures;

import org.jspecify.annotations.NullMarked;
