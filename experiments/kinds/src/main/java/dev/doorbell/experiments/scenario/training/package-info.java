/**
 * A training step: gradients are all-reduced in buckets while a backward pass still computes those
 * of the layers below.
 */
@NullMarked
package dev.doorbell.experiments.scenario.training;

import org.jspecify.annotations.NullMarked;
