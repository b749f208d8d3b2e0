package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.AccessFault;
import org.jspecify.annotations.Nullable;

/**
 * The door through which one thread, of a GPU or of the host, reaches memory.
 *
 * <p><b>Waiting.</b> Under a fabric with virtual time an access may take a while. The port then
 * sets {@link #parked}, returns a value that means nothing, and has changed nothing that the thread
 * can see. The thread must return from {@link dev.doorbell.core.agent.Agent#step} and, when it is
 * stepped again, issue <em>the same access with the same arguments</em>; that call completes. Under
 * {@link DirectFabric} no access ever parks.
 *
 * <p>Values are zero-extended and little-endian. Addresses must be naturally aligned (16 for {@code
 * load128}); {@code access} is a combination of {@link Access} bits. Every access is checked
 * against the address space; a bad one throws {@link AccessFault}.
 *
 * <p>An abstract class, not an interface: a program that loads only one fabric has only one
 * implementation, and HotSpot then calls it directly.
 */
public abstract class ThreadPort {
  /** True when the last access did not complete; see the class comment. */
  public boolean parked;

  /** Bytes 8 to 15 of the last {@link #load128}. */
  public long high;

  /** Loads 1 byte. */
  public abstract long load8(long address, int access);

  /** Loads 2 bytes. */
  public abstract long load16(long address, int access);

  /** Loads 4 bytes. */
  public abstract long load32(long address, int access);

  /** Loads 8 bytes. */
  public abstract long load64(long address, int access);

  /** Loads 16 bytes as two 8-byte accesses in any order; bytes 8 to 15 go to {@link #high}. */
  public abstract long load128(long address, int access);

  /**
   * Returns the number of this thread's loads that may be under way at a time, as {@link #issue}
   * and {@link #take} have them; 0 where a load is done when it returns.
   */
  public int loadsAhead() {
    return 0;
  }

  /**
   * Issues a load whose value {@link #take} gives later. It is the value of the moment at which
   * memory serves the load, and no older one than an earlier load of the same bytes by this thread
   * got; what the thread stores, or does with atomics, to these bytes from now on it does not see.
   * Fences and releases wait for it. For loads that order nothing themselves: weak, relaxed,
   * volatile. May park.
   *
   * @param ticket names the load until it is taken; below {@link #loadsAhead}, and not in use
   * @param bytes 1, 2, 4, 8 or 16
   */
  public void issue(int ticket, long address, int bytes, int access) {
    throw new IllegalStateException("here a load is done when it returns");
  }

  /**
   * Waits for an issued load; bytes 8 to 15 of one of 16 go to {@link #high}. May park. Loads are
   * taken in any order.
   */
  public long take(int ticket) {
    throw new IllegalStateException("here a load is done when it returns");
  }

  /**
   * Loads from all members of a multicast object in one access, which a switch of the GPUs copies.
   * May park.
   *
   * @param address in the object
   * @param bytes 4, 8 or 16
   * @return the lower and the upper 8 bytes of each member in turn; null where the members are to
   *     be loaded one after the other
   */
  public long @Nullable [] loadMembers(long address, int bytes, int access) {
    return null;
  }

  /**
   * Stores to all members of a multicast object in one access, likewise. May park.
   *
   * @return false where the members are to be stored to one after the other
   */
  public boolean storeMembers(long address, int bytes, long low, long high, int access) {
    return false;
  }

  /** Stores the low byte of {@code value}. */
  public abstract void store8(long address, long value, int access);

  /** Stores the low 2 bytes of {@code value}. */
  public abstract void store16(long address, long value, int access);

  /** Stores the low 4 bytes of {@code value}. */
  public abstract void store32(long address, long value, int access);

  /** Stores 8 bytes. */
  public abstract void store64(long address, long value, int access);

  /** Stores 16 bytes as two 8-byte accesses, {@code low} at the lower address, in any order. */
  public abstract void store128(long address, long low, long high, int access);

  /**
   * Reads, modifies and writes one cell in one step.
   *
   * @param bytes the cell's width: 1, 2, 4 or 8
   * @param operand see {@link Rmw}
   * @param compare the compare operand of {@link Rmw#COMPARE_AND_SWAP}, else ignored
   * @return the cell's old value, zero-extended
   */
  public abstract long atomic(
      Rmw operation, long address, int bytes, long operand, long compare, int access);

  /**
   * Reads 16 bytes and writes others in one step. A fabric need not have it; such a one refuses
   * every address.
   *
   * @return the old bytes 0 to 7; bytes 8 to 15 go to {@link #high}
   */
  public long exchange128(long address, long low, long high, int access) {
    throw no128(address);
  }

  /**
   * Reads 16 bytes and, where they are what is expected, writes others in one step. One step for
   * other 16-byte atomics, and for all threads of a fabric that runs on one host thread; a host
   * thread beside it may see one half of the write before the other. A fabric need not have it.
   *
   * @return the old bytes 0 to 7; bytes 8 to 15 go to {@link #high}
   */
  public long compareAndSwap128(
      long address, long expectedLow, long expectedHigh, long low, long high, int access) {
    throw no128(address);
  }

  private static AccessFault no128(long address) {
    return new AccessFault("atomic", address, 16, "this fabric has no 16-byte atomics");
  }

  /** A fence with the semantics and scope of {@code access}. */
  public abstract void fence(int access);

  /**
   * The thread has executed {@code instructions} instructions since the last call; virtual time
   * moves on by their price. Engines call it before each access and at the end of a step.
   */
  public abstract void executed(int instructions);

  /**
   * Instructions among those executed last have waited for each other ({@link Fabric#pipeline}).
   *
   * @param picos picoseconds that they took beyond {@link Fabric.Pipeline#issue} for each; below 0
   *     where some took none
   */
  public void stalled(long picos) {
    // no time passes
  }

  /**
   * Spends {@code nanos} of the thread's time: {@code nanosleep}, or host code with a known price.
   */
  public abstract void spend(long nanos);

  /**
   * The thread went once around a loop that only polls, and found nothing. The fabric may park it
   * until a cell that it loaded with a strong access since the last call is written, or until
   * {@code atMostNanos} have passed. Never required; a hint that saves work.
   */
  public abstract void pollFailed(long atMostNanos);

  /** True when {@link #spun} is to be called. */
  public boolean judgesProgress() {
    return false;
  }

  /**
   * The thread went round a loop that changes nothing but registers, and all of them are as they
   * were a round before. The fabric may park it as {@link #pollFailed} does.
   *
   * @param loads the loop has weak loads; without, it never ends
   */
  public void spun(boolean loads) {
    // goes on
  }

  /** Nanoseconds on the fabric's clock, as this thread sees it. */
  public abstract long now();

  /**
   * True when accesses to the shared memory of the thread's block are to come through the port, as
   * those to global memory do; otherwise the engine performs them itself.
   */
  public boolean takesShared() {
    return false;
  }

  /** The copies whose accesses follow. */
  public enum Copies {
    ASYNC,
    /** One bulk copy from global memory. */
    BULK,
    /** One {@code st.async} or {@code red.async}, which its mbarrier alone announces. */
    STORE,
    /** One bulk copy from shared memory, which its proxy reads. */
    BULK_FROM_SHARED,
    /** All {@code cp.async} so far: they arrive at an mbarrier. */
    EARLIER
  }

  /**
   * Accesses until {@link #copied} are those of asynchronous copies, which nothing but waiting for
   * them orders before what the thread does later.
   */
  public void copying(Copies which) {
    // done when they are issued
  }

  /** Accesses are the thread's own again. */
  public void copied() {
    // done when they are issued
  }

  /** The copies since the last call become a group. */
  public void commitCopies(boolean bulk) {
    // done when they are issued
  }

  /**
   * The thread waits for its groups of copies, but for the latest.
   *
   * @param left the number of groups that need not be done; below 0 also copies without a group are
   *     waited for
   * @param reads it waits only until they have read what they copy
   */
  public void awaitCopies(boolean bulk, int left, boolean reads) {
    // done when they are issued
  }

  /** A proxy fence: asynchronous copies that follow may read what was stored. */
  public void fenceAsyncProxy() {
    // all proxies see the same memory
  }

  /** Comes before {@link #arrive}: what the thread stored is performed for its block. May park. */
  public void settle() {
    fence(Access.ACQ_REL | Access.CTA);
  }

  /**
   * The thread arrives at a meeting that orders memory: a barrier of its block or warp. Shuffles
   * and votes are none.
   *
   * @param meeting what the first to arrive was given, or null for the first
   * @return what the others are to pass, and everybody to {@link #leave}
   */
  public @Nullable Object arrive(@Nullable Object meeting) {
    return null;
  }

  /** All have arrived: what they did before comes before what this thread does from now on. */
  public void leave(@Nullable Object meeting) {}

  /**
   * Wakes the agent of this port, whose only port it is, as {@link Fabric#wake} does.
   *
   * @return false where the fabric alone can
   */
  public boolean wakeAgent() {
    return false;
  }
}
