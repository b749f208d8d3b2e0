package dev.doorbell.core.mlx5.prm.generated;

import dev.doorbell.core.mlx5.prm.PrmField;
import javax.annotation.processing.Generated;

/**
 * The first 16 bytes of every command and answer, the opcodes, and the statuses of answers.
 *
 * <p>Written by FormatsTest from src/main/formats/prm.txt.
 */
@Generated("FormatsTest")
public class CommandHeader {
  /** Opcode of a command. */
  public static final PrmField OPCODE = new PrmField(0x0, 31, 16);

  /** Modifier of a command; QUERY_HCA_CAP has the group of capabilities here. */
  public static final PrmField OP_MOD = new PrmField(0x4, 15, 0);

  /** Status of an answer: 0, or one of the statuses below. */
  public static final PrmField STATUS = new PrmField(0x0, 31, 24);

  /** The firmware's number for the reason of a refusal. */
  public static final PrmField SYNDROME = new PrmField(0x4, 31, 0);

  /** The object that a command is about, or that it has created. */
  public static final PrmField NUMBER = new PrmField(0x8, 23, 0);

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

  public static final int STATUS_OK = 0x0;

  public static final int INTERNAL_ERROR = 0x1;

  public static final int BAD_OPCODE = 0x2;

  public static final int BAD_PARAMETER = 0x3;

  public static final int BAD_SYSTEM_STATE = 0x4;

  public static final int BAD_RESOURCE = 0x5;

  public static final int RESOURCE_BUSY = 0x6;

  public static final int LIMIT_EXCEEDED = 0x8;

  public static final int BAD_RESOURCE_STATE = 0x9;

  public static final int BAD_INDEX = 0xa;

  public static final int NO_RESOURCES = 0xf;

  public static final int BAD_QUEUE_PAIR_STATE = 0x10;

  public static final int BAD_INPUT_LENGTH = 0x50;

  public static final int BAD_OUTPUT_LENGTH = 0x51;

  protected CommandHeader() {}

  /** Names a status. */
  public static String statusName(int code) {
    return switch (code) {
      case STATUS_OK -> "no error";
      case INTERNAL_ERROR -> "internal error";
      case BAD_OPCODE -> "bad operation: this firmware lacks the command";
      case BAD_PARAMETER -> "bad parameter";
      case BAD_SYSTEM_STATE -> "bad system state";
      case BAD_RESOURCE -> "bad resource: a number in the command names no object of this program";
      case RESOURCE_BUSY -> "resource busy";
      case LIMIT_EXCEEDED -> "limit exceeded";
      case BAD_RESOURCE_STATE -> "resource in a wrong state";
      case BAD_INDEX -> "bad index";
      case NO_RESOURCES -> "no resources left";
      case BAD_QUEUE_PAIR_STATE -> "bad queue pair state";
      case BAD_INPUT_LENGTH -> "bad input length";
      case BAD_OUTPUT_LENGTH -> "bad output length";
      default -> "unknown status";
    };
  }
}
