package dev.doorbell.core.fabric;

/** The read-modify-write operations of PTX {@code atom} and {@code red}, and of HCA atomics. */
public enum Rmw {
  /** Adds the operand. */
  ADD,
  /** Stores the operand. */
  EXCHANGE,
  /** Stores the operand where the cell equals the compare operand. */
  COMPARE_AND_SWAP,
  AND,
  OR,
  XOR,
  MIN_SIGNED,
  MAX_SIGNED,
  MIN_UNSIGNED,
  MAX_UNSIGNED,
  /** old >= operand ? 0 : old + 1. */
  INCREMENT_WRAP,
  /** old == 0 || old > operand ? operand : old - 1. */
  DECREMENT_WRAP,
  ADD_F16X2,
  ADD_BF16X2,
  ADD_F16,
  ADD_BF16,
  ADD_F32,
  ADD_F64;

  /**
   * The new value of a cell.
   *
   * @param old the cell's value, zero-extended
   * @param bytes the cell's width: 1, 2, 4 or 8
   * @param operand the operand (for compare-and-swap: the new value)
   * @param compare the compare operand of compare-and-swap
   */
  public long apply(long old, int bytes, long operand, long compare) {
    return RmwArithmetic.apply(this, old, bytes, operand, compare);
  }
}
