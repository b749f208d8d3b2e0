package dev.doorbell.core.mlx5.prm;

/**
 * A field of a firmware command or answer: some bits of a big-endian dword.
 *
 * @param dword offset of the dword in bytes
 * @param high most significant bit, 31 to 0
 * @param low least significant bit, at most {@code high}
 */
public record PrmField(int dword, int high, int low) {
  /** The field's bits in place 0. */
  int mask() {
    int width = high - low + 1;
    return width == Integer.SIZE ? -1 : (1 << width) - 1;
  }
}
