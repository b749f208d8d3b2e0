/**
 * Kinds of figures: for each, a record of what is shown ({@code LineFigure}) and the class that
 * lays it out ({@code LineChart}). Nothing here reads a run.
 */
@NullMarked
package dev.doorbell.experiments.results.figures.chart;

import org.jspecify.annotations.NullMarked;
