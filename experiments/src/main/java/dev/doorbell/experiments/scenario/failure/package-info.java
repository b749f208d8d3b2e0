/**
 * Failures in the middle of an operation among many ranks: what is noticed, what goes on without
 * the parts that failed, and whether its result is right.
 */
@NullMarked
package dev.doorbell.experiments.scenario.failure;

import org.jspecify.annotations.NullMarked;
