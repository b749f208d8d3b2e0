/**
 * Changes from one run to another: points are matched by their settings, tested by ranks, and
 * judged. Reads samples a point at a time, so that the length of a run does not matter.
 */
@NullMarked
package dev.doorbell.experiments.results.compare;

import org.jspecify.annotations.NullMarked;
