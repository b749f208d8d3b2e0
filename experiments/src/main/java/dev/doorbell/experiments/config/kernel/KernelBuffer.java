package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import org.jspecify.annotations.Nullable;

/**
 * Memory that a kernel brings at each rank, registered with the HCA. It gets, as a parameter of
 * that name, a {@code doorbell::location} for each rank, where that rank's buffer lies.
 *
 * @param count of numbers
 * @param fill what number {@code i} is at the start; null for zero
 * @param multicast a parameter of this name gets the address of a multicast object over the buffers
 *     of all ranks; null for none
 */
public record KernelBuffer(
    String name,
    String description,
    NumberType type,
    Formula count,
    @Nullable Formula fill,
    @Nullable String multicast) {}
