package dev.doorbell.experiments.config;

/**
 * A figure that the config asks for.
 *
 * @param x axis on the abscissa, such as {@code size}
 * @param y sampled metric on the ordinate, such as {@code latency}
 * @param series axis that gives one line each, such as {@code path}; empty for a single line
 * @param facet axis that gives one panel each, such as {@code placement}; empty for one panel
 */
public record FigureSpec(
    String name, String x, String y, String series, String facet, boolean logX, boolean logY) {}
