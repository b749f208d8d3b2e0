/**
 * Expert parallelism: tokens go to the experts that a router chose, and what these return is summed
 * where the tokens came from.
 */
@NullMarked
package dev.doorbell.experiments.scenario.moe;

import org.jspecify.annotations.NullMarked;
