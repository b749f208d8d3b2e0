package dev.doorbell.core.mlx5.prm;

/** The first 16 bytes of every command and answer, the opcodes, and the statuses of answers. */
public final class CommandHeader {
  /** Of a command: its opcode. */
  public static final PrmField OPCODE = PrmField.bits(0, 31, 16);

  /**
   * Of a command: what the opcode leaves open; QUERY_HCA_CAP has the group of capabilities here.
   */
  public static final PrmField OP_MOD = PrmField.bits(0x4, 15, 0);

  /** Of an answer: 0, or one of the statuses below. */
  public static final PrmField STATUS = PrmField.bits(0, 31, 24);

  /** Of an answer: the firmware's number for the reason. */
  public static final PrmField SYNDROME = PrmField.word(0x4);

  /** The object that a command is about, or that it has created. */
  public static final PrmField NUMBER = PrmField.bits(0x8, 23, 0);

  // MLX5_CMD_OP_*
  public static final int QUERY_HCA_CAP = 0x100;
  public static final int CREATE_MKEY = 0x200;
  public static final int CREATE_CQ = 0x400;
  public static final int CREATE_QP = 0x500;
  public static final int RST2INIT_QP = 0x502;
  public static final int INIT2RTR_QP = 0x503;
  public static final int RTR2RTS_QP = 0x504;
  public static final int RTS2RTS_QP = 0x505;
  public static final int TO_ERROR_QP = 0x507;
  public static final int TO_RESET_QP = 0x50a;
  public static final int QUERY_QP = 0x50b;
  public static final int INIT2INIT_QP = 0x50e;
  public static final int CREATE_DCT = 0x710;
  public static final int DESTROY_DCT = 0x711;
  public static final int DRAIN_DCT = 0x712;
  public static final int QUERY_DCT = 0x713;
  public static final int QUERY_ROCE_ADDRESS = 0x760;
  public static final int ALLOC_PD = 0x800;
  public static final int QUERY_LAG = 0x842;
  public static final int CREATE_RMP = 0x90c;
  public static final int MODIFY_RMP = 0x90d;
  public static final int CREATE_TIR = 0x900;
  public static final int ALLOC_FLOW_COUNTER = 0x939;

  // MLX5_CMD_STAT_*
  public static final int BAD_OPCODE = 0x2;
  public static final int BAD_PARAMETER = 0x3;
  public static final int BAD_RESOURCE = 0x5;
  public static final int NO_RESOURCES = 0xf;

  private CommandHeader() {}
}
