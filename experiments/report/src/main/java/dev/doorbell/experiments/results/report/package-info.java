/**
 * Runs as one page of HTML that needs nothing else: figures that zoom and hide series, tables that
 * sort, what the numbers rest on. A pure function of the runs; the page asks no server for
 * anything.
 */
@NullMarked
package dev.doorbell.experiments.results.report;

import org.jspecify.annotations.NullMarked;
