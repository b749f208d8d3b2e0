/**
 * From a run to what is put before a reader: figures and tables, as pure functions of the raw
 * samples, so that the same run gives the same bytes whenever they are rebuilt.
 *
 * <p>Three rooms: what to show ({@code RunFigures}, {@code Tables}) is read off a run; how a kind
 * of figure is laid out ({@code LineChart}) knows nothing of runs; {@code drawing} knows nothing of
 * charts. Every figure and table carries the basis word of its numbers.
 */
@NullMarked
package dev.doorbell.experiments.results.figures;

import org.jspecify.annotations.NullMarked;
