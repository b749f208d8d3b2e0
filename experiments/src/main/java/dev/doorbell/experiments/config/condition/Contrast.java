package dev.doorbell.experiments.config.condition;

/**
 * A pair of lines whose crossover is of interest.
 *
 * @param metric that is compared, such as {@code latency}
 * @param over axis along which the lines may cross, such as {@code size}
 * @param axis that tells the lines apart, such as {@code path}
 * @param first value of that axis, such as {@code pull}
 * @param second value of that axis, such as {@code push.memic}
 * @param by axis for each value of which the crossover is sought, such as {@code placement}; empty
 *     for none
 */
public record Contrast(
    String metric, String over, String axis, String first, String second, String by) {}
