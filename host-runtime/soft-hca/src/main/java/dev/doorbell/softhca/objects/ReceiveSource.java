package dev.doorbell.softhca.objects;

/**
 * A queue pair takes receive WQEs from here, one at a time: its own ring or a shared one. The WQE
 * that is being filled was copied, so that what the owner of the ring does meanwhile changes
 * nothing.
 */
public abstract class ReceiveSource {
  /** {@link #prepare}: a receive WQE is at hand. */
  public static final int READY = 0;

  /** {@link #prepare}: it is being read; the queue pair is woken then. */
  public static final int WAIT = 1;

  /** {@link #prepare}: nothing is posted. */
  public static final int EMPTY = 2;

  /** Makes sure that the next receive WQE is at hand. */
  public abstract int prepare();

  /** A receive WQE was taken and is not used up. */
  protected boolean atHand;

  /** A read of the queue was refused. */
  protected boolean failed;

  /** Returns true if a receive WQE was taken and is not used up. */
  public final boolean isTaken() {
    return atHand;
  }

  /** True when a read of the queue was refused. */
  public boolean failed() {
    return failed;
  }

  /** Index of the WQE in use. */
  public abstract long index();

  /** Data segments of a WQE. */
  public abstract int segments();

  /** Native address of a segment of the WQE in use. */
  public abstract long segment(int number);

  /** The WQE in use is used up. */
  public void consume() {
    atHand = false;
  }

  /** The queue pair is gone, and its own ring with it. */
  public void release() {
    atHand = false;
  }

  /** User index of CQEs: the number of the shared queue, else 0. */
  public int userIndex() {
    return 0;
  }

  /** Returns true if what is posted belongs to this queue pair alone and is flushed with it. */
  public boolean isOwn() {
    return true;
  }
}
