/**
 * What is to be run: the points of a sweep, in a fixed order, and the contract with whatever runs a
 * point. Knows nothing of GPUs, HCAs or files.
 */
@NullMarked
package dev.doorbell.experiments.plan;

import org.jspecify.annotations.NullMarked;
