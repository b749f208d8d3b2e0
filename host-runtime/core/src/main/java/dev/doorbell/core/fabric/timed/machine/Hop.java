package dev.doorbell.core.fabric.timed.machine;

/**
 * One link of a path.
 *
 * @param link the link's name
 * @param nanos latency of crossing it, and of the bridge or root complex behind it
 */
public record Hop(String link, double nanos) {}
