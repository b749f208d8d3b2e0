package dev.doorbell.verbs;

/**
 * Offsets in {@code struct ibv_wc} (verbs.h) and the values of its enums; the immediate is
 * big-endian.
 */
final class WorkCompletionLayout {
  static final int BYTES = 48;
  static final int STATUS_OFFSET = 8;

  // enum ibv_wc_opcode

  // enum ibv_wc_flags

  // enum ibv_wc_status
  static final int SUCCESS = 0;

  private WorkCompletionLayout() {}
}
