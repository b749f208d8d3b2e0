package dev.doorbell.core.mlx5.prm;

/**
 * A field of a firmware command or answer: some bits of a big-endian dword.
 *
 * @param dword offset of the dword in bytes
 * @param high most significant bit, 31 to 0
 * @param low least significant bit, at most {@code high}
 */
public record PrmField(int dword, int high, int low) {
  static PrmField bits(int dword, int high, int low) {
    return new PrmField(dword, high, low);
  }

  static PrmField bit(int dword, int bit) {
    return new PrmField(dword, bit, bit);
  }

  static PrmField word(int dword) {
    return new PrmField(dword, 31, 0);
  }

  /** The field's bits in place 0. */
  int mask() {
    int width = high - low + 1;
    return width == Integer.SIZE ? -1 : (1 << width) - 1;
  }
}
