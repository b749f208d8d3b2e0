package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DeviceUnit;

/**
 * The halves of a queue pair complete here what they carried out: a completion queue, or what
 * stands between them and the queues of another format.
 */
public abstract class Completions extends PendingList.Node {
  /** {@link #room}: a CQE may be written. */
  public static final int ROOM = 0;

  /** {@link #room}: the consumer index is being read; the queue pair is woken then. */
  public static final int WAIT = 1;

  /** {@link #room}: the queue has overrun and accepts no CQE any more. */
  public static final int OVERRUN = 2;

  /** {@link #responder}: the CQE names no sender. */
  public static final int CONNECTED = -1;

  /** Tells whether a CQE may be written for {@code queuePair} now: {@link #ROOM} or another. */
  public abstract int room(QueuePairContext queuePair);

  public abstract boolean isCollapsed();

  /** CQEs come from {@code unit} from now on. */
  public abstract void writer(DeviceUnit unit);

  /**
   * The user's name of the queue whose CQEs come from now on: {@code srqn_uidx}; {@link
   * QueuePairContext#UNNAMED} where CQEs name queue pairs by their number alone.
   */
  public abstract void user(int userIndex);

  /** Completes a request. */
  public abstract void requester(int qpn, int opcode, int wqeIndex, int bytes);

  /**
   * {@code count} requests that follow each other were complete at once; there is one entry for all
   * of them, where only the last is ever seen.
   */
  public abstract void requesters(long count, int qpn, int opcode, int wqeIndex, int bytes);

  /**
   * Completes a receive.
   *
   * @param sender of a datagram: {@link dev.doorbell.core.mlx5.Cqe#sender}; else {@link #CONNECTED}
   */
  public abstract void responder(
      int opcode,
      int qpn,
      int userIndex,
      int receiveIndex,
      int bytes,
      int immediate,
      boolean solicited,
      int sender);

  /** Completes a request or a receive with an error. */
  public abstract void error(
      int cqeOpcode, int syndrome, int vendorSyndrome, int opcode, int qpn, int wqeIndex);

  /** A queue pair uses it from now on. */
  public abstract void use();

  /** A queue pair uses it no longer. */
  public abstract void unuse(QueuePairContext queuePair);
}
