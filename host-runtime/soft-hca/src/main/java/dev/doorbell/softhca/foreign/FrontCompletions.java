package dev.doorbell.softhca.foreign;

import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.QueuePairContext;

/** Hands the completions of one connection to the front end before it. */
abstract class FrontCompletions extends Completions {
  /**
   * A request is complete.
   *
   * @param index of its first block
   * @param syndrome of {@code core.mlx5.Syndrome}, or 0
   */
  void requested(int index, int syndrome) {
    throw new IllegalStateException("no requests complete here");
  }

  /**
   * A receive is complete.
   *
   * @param opcode of a responder's CQE, or {@link Cqe#RESPONDER_ERROR}
   * @param receive which
   */
  void received(int opcode, int receive, int syndrome, int bytes, int immediate) {
    throw new IllegalStateException("no receives complete here");
  }

  @Override
  public final int room(QueuePairContext queuePair) {
    return ROOM;
  }

  @Override
  public final boolean isCollapsed() {
    return false;
  }

  @Override
  public final void writer(DeviceUnit unit) {}

  @Override
  public final void requester(int qpn, int opcode, int wqeIndex, int bytes) {
    requested(wqeIndex, 0);
  }

  @Override
  public final void requesters(long count, int qpn, int opcode, int wqeIndex, int bytes) {
    requested(wqeIndex, 0);
  }

  @Override
  public final void user(int userIndex) {
    // Its CQEs go to no ring of a user.
  }

  @Override
  public final void responder(
      int opcode,
      int qpn,
      int userIndex,
      int receiveIndex,
      int bytes,
      int immediate,
      boolean solicited,
      int sender) {
    received(opcode, receiveIndex, 0, bytes, immediate);
  }

  @Override
  public final void error(
      int cqeOpcode, int syndrome, int vendorSyndrome, int opcode, int qpn, int wqeIndex) {
    if (cqeOpcode == Cqe.REQUESTER_ERROR) {
      requested(wqeIndex, syndrome);
    } else {
      received(cqeOpcode, wqeIndex, syndrome, 0, 0);
    }
  }

  @Override
  public final void use() {}

  @Override
  public final void unuse(QueuePairContext queuePair) {}
}
