package dev.doorbell.core.mlx5.prm;

/**
 * A place in memory that was registered for the firmware.
 *
 * @param id number of the registration
 * @param offset from its first byte
 */
public record Umem(int id, long offset) {}
