/**
 * Statistics once, in one place: every interval, percentile, fit and crossover that a table or a
 * figure shows is computed here, from raw samples and a seed, and comes out the same each time.
 *
 * <p>Neither Commons Math nor Commons Statistics has a bootstrap, so it is written here;
 * distributions, regression and quantiles are theirs. Comparisons between runs (rank tests, effect
 * sizes) belong here too.
 */
@NullMarked
package dev.doorbell.experiments.stats;

import org.jspecify.annotations.NullMarked;
