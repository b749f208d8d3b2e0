package dev.doorbell.core.fabric.explore.litmus;

/**
 * What the operand of an access names.
 *
 * @param location the index of the memory
 * @param virtual the index of the generic address; two that differ may name one location
 * @param proxy by which the name reaches it
 */
public record Address(int location, int virtual, Proxy proxy) {}
