/**
 * The tables of a run, as pure functions of its samples: the same run gives the same bytes. Each
 * has units in its headings and the basis of its numbers below.
 */
@NullMarked
package dev.doorbell.experiments.results.tables;

import org.jspecify.annotations.NullMarked;
