package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * WQE opcodes ({@code MLX5_OPCODE_*}).
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class OpcodeTable {
  public static final int NOP = 0x00;

  public static final int SEND_INVAL = 0x01;

  public static final int RDMA_WRITE = 0x08;

  public static final int RDMA_WRITE_IMM = 0x09;

  public static final int SEND = 0x0a;

  public static final int SEND_IMM = 0x0b;

  public static final int TSO = 0x0e;

  /** Waits for a completion on another queue (core-direct). */
  public static final int WAIT = 0x0f;

  public static final int RDMA_READ = 0x10;

  public static final int ATOMIC_CS = 0x11;

  public static final int ATOMIC_FA = 0x12;

  public static final int ATOMIC_MASKED_CS = 0x14;

  public static final int ATOMIC_MASKED_FA = 0x15;

  public static final int FMR = 0x19;

  public static final int LOCAL_INVAL = 0x1b;

  public static final int CONFIG_CMD = 0x1f;

  public static final int SET_PSV = 0x20;

  /** Reads local memory and drops it: a flush inside the HCA. */
  public static final int DUMP = 0x23;

  public static final int UMR = 0x25;

  public static final int TAG_MATCHING = 0x28;

  /** Several Ethernet packets in one WQE (mlx5_core, DPDK). */
  public static final int ENHANCED_MPSW = 0x29;

  public static final int FLOW_TBL_ACCESS = 0x2c;

  /** Memory to memory inside the HCA: DMA, compression. */
  public static final int MMO = 0x2f;

  protected OpcodeTable() {}

  /** Returns the name of an opcode, or its number in hex where it has none. */
  public static String name(int code) {
    return switch (code) {
      case NOP -> "NOP";
      case SEND_INVAL -> "SEND_INVAL";
      case RDMA_WRITE -> "RDMA_WRITE";
      case RDMA_WRITE_IMM -> "RDMA_WRITE_IMM";
      case SEND -> "SEND";
      case SEND_IMM -> "SEND_IMM";
      case TSO -> "TSO";
      case WAIT -> "WAIT";
      case RDMA_READ -> "RDMA_READ";
      case ATOMIC_CS -> "ATOMIC_CS";
      case ATOMIC_FA -> "ATOMIC_FA";
      case ATOMIC_MASKED_CS -> "ATOMIC_MASKED_CS";
      case ATOMIC_MASKED_FA -> "ATOMIC_MASKED_FA";
      case FMR -> "FMR";
      case LOCAL_INVAL -> "LOCAL_INVAL";
      case CONFIG_CMD -> "CONFIG_CMD";
      case SET_PSV -> "SET_PSV";
      case DUMP -> "DUMP";
      case UMR -> "UMR";
      case TAG_MATCHING -> "TAG_MATCHING";
      case ENHANCED_MPSW -> "ENHANCED_MPSW";
      case FLOW_TBL_ACCESS -> "FLOW_TBL_ACCESS";
      case MMO -> "MMO";
      default -> "opcode 0x%02x".formatted(code);
    };
  }

  /** True where the WQE goes on with a {@code RemoteAddressSegment}. */
  public static boolean hasRemoteAddress(int code) {
    return switch (code) {
      case RDMA_WRITE,
          RDMA_WRITE_IMM,
          RDMA_READ,
          ATOMIC_CS,
          ATOMIC_FA,
          ATOMIC_MASKED_CS,
          ATOMIC_MASKED_FA ->
          true;
      default -> false;
    };
  }

  /** True where the last word of the control segment is immediate data. */
  public static boolean hasImmediate(int code) {
    return switch (code) {
      case RDMA_WRITE_IMM, SEND_IMM -> true;
      default -> false;
    };
  }

  /** True for what is a message on the wire, which the peer counts; the others stay in the HCA. */
  public static boolean isMessage(int code) {
    return switch (code) {
      case SEND_INVAL,
          RDMA_WRITE,
          RDMA_WRITE_IMM,
          SEND,
          SEND_IMM,
          RDMA_READ,
          ATOMIC_CS,
          ATOMIC_FA,
          ATOMIC_MASKED_CS,
          ATOMIC_MASKED_FA ->
          true;
      default -> false;
    };
  }

  /** True for the four opcodes whose result is the old value of a remote cell. */
  public static boolean isAtomic(int code) {
    return switch (code) {
      case ATOMIC_CS, ATOMIC_FA, ATOMIC_MASKED_CS, ATOMIC_MASKED_FA -> true;
      default -> false;
    };
  }

  /** Names the last word of the control segment; empty where it is unused. */
  public static String immediateMeaning(int code) {
    return switch (code) {
      case SEND_INVAL -> "invalidate rkey";
      case RDMA_WRITE_IMM -> "imm";
      case SEND_IMM -> "imm";
      case LOCAL_INVAL -> "invalidate rkey";
      case UMR -> "mkey";
      default -> "";
    };
  }

  /** Names the segments behind the control segment, as {@code WqeLayout} reads them. */
  public static String segments(int code) {
    return switch (code) {
      case SEND_INVAL -> "data";
      case RDMA_WRITE -> "remote data";
      case RDMA_WRITE_IMM -> "remote data";
      case SEND -> "data";
      case SEND_IMM -> "data";
      case TSO -> "data";
      case WAIT -> "wait";
      case RDMA_READ -> "remote data";
      case ATOMIC_CS -> "remote atomic data";
      case ATOMIC_FA -> "remote atomic data";
      case ATOMIC_MASKED_CS -> "remote swap data";
      case ATOMIC_MASKED_FA -> "remote add data";
      case LOCAL_INVAL -> "umr mkey";
      case DUMP -> "data";
      case UMR -> "umr mkey data";
      case ENHANCED_MPSW -> "data";
      case MMO -> "mmo data";
      default -> "";
    };
  }
}
