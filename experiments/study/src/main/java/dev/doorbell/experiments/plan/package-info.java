/**
 * Points of a sweep, in a fixed order, and the contract with whatever runs a point. It depends on
 * no GPU, HCA or file.
 */
@NullMarked
package dev.doorbell.experiments.plan;

import org.jspecify.annotations.NullMarked;
