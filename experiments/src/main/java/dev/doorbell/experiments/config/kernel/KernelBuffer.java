package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import org.jspecify.annotations.Nullable;

/**
 * Memory that a kernel brings at each rank, registered with the HCA. It gets, as a parameter of
 * that name, a {@code doorbell::location} for each rank, where that rank's buffer lies.
 *
 * @param count of numbers
 * @param fill what number {@code i} is at the start; null for zero
 */
public record KernelBuffer(
    String name, String description, NumberType type, Formula count, @Nullable Formula fill) {}
