/**
 * Parts that charts of all kinds share: axes with their ticks, colours and markers of series, the
 * legend, and panels that share both axes.
 */
@NullMarked
package dev.doorbell.experiments.results.figures.layout;

import org.jspecify.annotations.NullMarked;
