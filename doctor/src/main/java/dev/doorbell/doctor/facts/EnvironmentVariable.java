package dev.doorbell.doctor.facts;

/**
 * A variable that a communication library may read.
 *
 * @param origin {@code environment}, or the file that sets it
 */
public record EnvironmentVariable(String name, String value, String origin) {}
