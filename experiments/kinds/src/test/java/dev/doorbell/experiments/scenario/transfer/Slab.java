package dev.doorbell.experiments.scenario.transfer;

/**
 * A range of an area of memory, by its offset in it.
 *
 * @param offset of the first byte
 * @param bytes how many
 */
record Slab(int offset, int bytes) {
  boolean overlaps(Slab other) {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
}
