package dev.doorbell.core.queue;

import dev.doorbell.core.memory.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * What a protocol kernel is asked to do: {@code struct doorbell_job} of abi.h, with its field
 * names.
 *
 * <p>Mutable while the host fills it in; {@link #encode} gives the bytes.
 */
public final class JobView {
  /** Bytes of the structure. */
  public static final int BYTES = 176;

  public static final int PATH_PULL = 0;
  public static final int PATH_INLINE = 1;
  public static final int PATH_STAGE = 2;

  public static final int SCOPE_THREAD = 0;
  public static final int SCOPE_WARP = 1;
  public static final int SCOPE_BLOCK = 2;

  public static final int OP_PUT = 0;
  public static final int OP_PUT_IMM = 1;
  public static final int OP_GET = 2;
  public static final int OP_PUT_INLINE = 3;
  public static final int OP_FETCH_ADD = 4;
  public static final int OP_COMPARE_SWAP = 5;
  public static final int OP_PUT_SIGNAL = 6;

  public long local;
  public long remote;
  public long bytes;
  public long iterations;
  public long warmup;
  public long samples;
  public long status;
  public long inbox;
  public long staging;
  public long stagingBytes;
  public long stagingWire;
  public long stamps;
  public long stride;
  public long operand;
  public long compare;
  public int localKey;
  public int remoteKey;
  public int stagingKey;
  public int path;
  public int scope;
  public int window;
  public int qpCount;
  public int role;
  public int opcode;
  public int chunkBytes;
  public long signals;
  public long peers;

  /** The structure's bytes. Keys are given as the HCA assigned them and stored byte-swapped. */
  public byte[] encode() {
    byte[] bytesOut = new byte[BYTES];
    MemorySegment to = MemorySegment.ofArray(bytesOut);
    to.set(Abi.U64, 0, local);
    to.set(Abi.U64, 8, remote);
    to.set(Abi.U64, 16, bytes);
    to.set(Abi.U64, 24, iterations);
    to.set(Abi.U64, 32, warmup);
    to.set(Abi.U64, 40, samples);
    to.set(Abi.U64, 48, status);
    to.set(Abi.U64, 56, inbox);
    to.set(Abi.U64, 64, staging);
    to.set(Abi.U64, 72, stagingBytes);
    to.set(Abi.U64, 80, stagingWire);
    to.set(Abi.U64, 88, stamps);
    to.set(Abi.U64, 96, stride);
    to.set(Abi.U64, 104, operand);
    to.set(Abi.U64, 112, compare);
    to.set(Abi.U32, 120, BigEndian.swap(localKey));
    to.set(Abi.U32, 124, BigEndian.swap(remoteKey));
    to.set(Abi.U32, 128, BigEndian.swap(stagingKey));
    to.set(Abi.U32, 132, path);
    to.set(Abi.U32, 136, scope);
    to.set(Abi.U32, 140, window);
    to.set(Abi.U32, 144, qpCount);
    to.set(Abi.U32, 148, role);
    to.set(Abi.U32, 152, opcode);
    to.set(Abi.U32, 156, chunkBytes);
    to.set(Abi.U64, 160, signals);
    to.set(Abi.U64, 168, peers);
    return bytesOut;
  }
}
