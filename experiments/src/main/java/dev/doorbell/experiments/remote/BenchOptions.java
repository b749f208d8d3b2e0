package dev.doorbell.experiments.remote;

/**
 * What is measured against a served HCA.
 *
 * @param at where it is asked
 * @param bytes of a WRITE
 * @param messages of a round
 * @param rounds that count; one more comes first and does not
 * @param depth WRITEs outstanding
 * @param timeoutNanos for each round
 */
public record BenchOptions(
    Endpoint at, int bytes, int messages, int rounds, int depth, long timeoutNanos) {}
