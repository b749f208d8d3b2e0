package dev.doorbell.softhca;

import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a reliable connection promises, and nothing of how: requests take effect at the peer once
 * and in order, whatever the wire does; one that is refused is the last. Packets, acknowledgements
 * and time do not occur here.
 */
final class RcModel {
  /** Why a request must fail. */
  enum Refusal {
    NONE(0),
    REMOTE_KEY(Syndrome.REMOTE_ACCESS),
    MISALIGNED(Syndrome.REMOTE_INVALID_REQUEST),
    LOCAL_KEY(Syndrome.LOCAL_PROTECTION);

    final int syndrome;

    Refusal(int syndrome) {
      this.syndrome = syndrome;
    }
  }

  /**
   * A request.
   *
   * @param remote offset in the peer's target area
   * @param source offset in the own source area
   * @param bytes payload, or what is read
   */
  record Request(
      int opcode,
      int remote,
      int source,
      int bytes,
      long swapAdd,
      long compare,
      int immediate,
      boolean solicited,
      boolean fenced,
      boolean signalled,
      Refusal refusal) {

    boolean isRead() {
      return opcode == Opcode.RDMA_READ;
    }

    boolean isAtomic() {
      return Opcode.isAtomic(opcode);
    }

    boolean takesReceive() {
      return opcode == Opcode.SEND || opcode == Opcode.SEND_IMM || opcode == Opcode.RDMA_WRITE_IMM;
    }

    boolean isSend() {
      return opcode == Opcode.SEND || opcode == Opcode.SEND_IMM;
    }
  }

  /** What the peer's receive queue must say. */
  record Receive(int cqeOpcode, int bytes, int immediate, int index) {}

  private final byte[] source;
  private byte[] target;
  private final int[] receiveOffsets;
  private int receivesTaken;
  private boolean dead;

  /** By request: its bytes at the requester, for READs and atomics; null where nothing lands. */
  final List<byte @Nullable []> landings = new ArrayList<>();

  /** By request: 0, or its syndrome. */
  final List<Integer> syndromes = new ArrayList<>();

  /** The target area before every request, and after the last. */
  final List<byte[]> states = new ArrayList<>();

  /** By request: how many receives are used up before it. */
  final List<Integer> receivesBefore = new ArrayList<>();

  final List<Receive> receives = new ArrayList<>();

  /** Messages that were carried out. */
  int messages;

  /**
   * @param source what the requester sends from
   * @param target what the peer's target area holds
   * @param receiveOffsets where in the target area the receives are, in the order of posting
   */
  RcModel(byte[] source, byte[] target, int[] receiveOffsets) {
    this.source = source;
    this.target = target.clone();
    this.receiveOffsets = receiveOffsets;
    states.add(this.target.clone());
  }

  byte[] target() {
    return target;
  }

  /** Where the next request that takes a receive puts its payload, if it is a SEND. */
  int nextReceive() {
    return receiveOffsets[receivesTaken];
  }

  int receiveOffset(int number) {
    return receiveOffsets[number];
  }

  boolean hasReceive() {
    return receivesTaken < receiveOffsets.length;
  }

  boolean isDead() {
    return dead;
  }

  /** Carries a request out. */
  void apply(Request request) {
    receivesBefore.add(receivesTaken);
    if (dead) {
      syndromes.add(Syndrome.FLUSHED);
      landings.add(null);
    } else if (request.refusal != Refusal.NONE) {
      dead = true;
      syndromes.add(request.refusal.syndrome);
      landings.add(null);
    } else {
      syndromes.add(0);
      landings.add(effect(request));
      messages += request.opcode == Opcode.NOP ? 0 : 1;
    }
    states.add(target.clone());
  }

  private byte @Nullable [] effect(Request request) {
    byte[] payload = Arrays.copyOfRange(source, request.source, request.source + request.bytes);
    switch (request.opcode) {
      case Opcode.NOP -> {}
      case Opcode.RDMA_WRITE -> put(request.remote, payload);
      case Opcode.RDMA_WRITE_IMM -> {
        put(request.remote, payload);
        receive(Cqe.RESPONDER_WRITE_IMM, request, request.immediate);
      }
      case Opcode.SEND -> {
        put(nextReceive(), payload);
        receive(Cqe.RESPONDER_SEND, request, 0);
      }
      case Opcode.SEND_IMM -> {
        put(nextReceive(), payload);
        receive(Cqe.RESPONDER_SEND_IMM, request, request.immediate);
      }
      case Opcode.RDMA_READ -> {
        return Arrays.copyOfRange(target, request.remote, request.remote + request.bytes);
      }
      default -> {
        return atomic(request);
      }
    }
    return null;
  }

  private void put(int at, byte[] payload) {
    System.arraycopy(payload, 0, target, at, payload.length);
  }

  private void receive(int cqeOpcode, Request request, int immediate) {
    receives.add(new Receive(cqeOpcode, request.bytes, immediate, receivesTaken));
    receivesTaken++;
  }

  private byte[] atomic(Request request) {
    ByteBuffer cells = ByteBuffer.wrap(target).order(ByteOrder.LITTLE_ENDIAN);
    long old = cells.getLong(request.remote);
    if (request.opcode == Opcode.ATOMIC_FA) {
      cells.putLong(request.remote, old + request.swapAdd);
    } else if (old == request.compare) {
      cells.putLong(request.remote, request.swapAdd);
    }
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(old).array();
  }
}
